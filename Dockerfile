# syntax=docker/dockerfile:1

# Everything that is built is the same on every architecture, so it is built on the machine's own:
# docker buildx build --platform linux/amd64,linux/arm64 -t <name> --push .
FROM --platform=$BUILDPLATFORM node:24-slim AS build
WORKDIR /app
# The lock alone first: dependencies are installed again only when it changes.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci
# With --build-arg CLAUDE_AGENT_SDK=1 the optional Claude Agent SDK, some 380 MB.
ARG CLAUDE_AGENT_SDK=0
ARG TARGETARCH
COPY claude-agent ./claude-agent
RUN --mount=type=cache,target=/root/.npm if [ "$CLAUDE_AGENT_SDK" = 1 ]; then \
  npm ci --prefix claude-agent --os=linux --cpu="$(echo "$TARGETARCH" | sed s/amd64/x64/)"; fi
COPY tsconfig.json nest-cli.json .swcrc ./
COPY src ./src
COPY widget ./widget
COPY tools/build.mjs tools/bundle.mjs tools/young-functions.mjs ./tools/
RUN npm run build
# The image has its own Node; the one among the dependencies is for machines with an older one.
# Native parts would be of the building machine; their packages do without.
RUN npm prune --omit=dev && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/.cache node_modules/@msgpackr-extract

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# A named volume takes its owner from the folder it is mounted on; processes that share their files mount one on /data/files.
RUN mkdir -p /data/files && chown -R node:node /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/claude-agent ./claude-agent
COPY --from=build /app/dist ./dist
COPY ops/healthcheck.sh ./ops/
COPY tools/fill-compile-cache.mjs ./tools/
# Compiled code is valid for one path, version of Node and user, so it is made here, and then belongs to root as the program does.
RUN mkdir -p node_modules/.cache/compile && chown node:node node_modules/.cache/compile
USER node
RUN node tools/fill-compile-cache.mjs
USER root
RUN chown -R root:root node_modules/.cache && chmod -R a+rX node_modules/.cache
# A number, with which Kubernetes can see that it is not root.
USER 1000:1000
# The only folders that are written are this one and, for temporary files, /tmp: the rest may be mounted read-only.
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/app/ops/healthcheck.sh", "live"]
# No npm in front of node: the signal that stops the container must reach the service. The cli: `<image> dist/cli.js ...`.
ENTRYPOINT ["node"]
CMD ["dist/main.js"]
