# syntax=docker/dockerfile:1

FROM node:24-slim AS build
WORKDIR /app
# The lock alone first: dependencies are installed again only when it changes.
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci
# With --build-arg CLAUDE_AGENT_SDK=1 the optional Claude Agent SDK, some 380 MB.
ARG CLAUDE_AGENT_SDK=0
COPY claude-agent ./claude-agent
RUN --mount=type=cache,target=/root/.npm if [ "$CLAUDE_AGENT_SDK" = 1 ]; then npm ci --prefix claude-agent; fi
COPY tsconfig.json nest-cli.json .swcrc ./
COPY src ./src
COPY widget ./widget
COPY tools/build.mjs tools/bundle.mjs ./tools/
RUN npm run build
# The image has its own Node; the one among the dependencies is for machines with an older one.
RUN npm prune --omit=dev && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/.cache

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
WORKDIR /app
# A named volume takes its owner from the folder it is mounted on; processes that share their files mount one on /data/files.
RUN mkdir -p /data/files && chown -R node:node /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/claude-agent ./claude-agent
COPY --from=build /app/dist ./dist
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No npm in front of node: the signal that stops the container must reach the service. The cli: `<image> dist/cli.js ...`.
ENTRYPOINT ["node"]
CMD ["dist/main.js"]
