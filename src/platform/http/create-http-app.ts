import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  onSendHookHandler,
} from 'fastify';
import { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import { TempUploads } from '../files/index.js';
import { shown } from '../json/index.js';
import { ShutdownState } from '../lifecycle/index.js';
import { type Logger, NestLogger } from '../telemetry/index.js';
import { clientErrorHandler } from './client-error.js';
import { OpenApiDocument } from './docs/open-api-document.js';
import { ErrorFilter, sendError } from './error-filter.js';
import { BODY_LIMIT, limitBodies } from './body-limit.js';
import { checkFields, readJsonBody } from './json-body.js';
import { acceptMultipart } from './multipart.js';
import { OpenRequests } from './open-requests.js';
import { drainRefusedBodies } from './refused-body.js';
import { answerPreflight, requestIdOf, setCommonHeaders } from './response-headers.js';
import { ServedRequests } from './served-requests.js';
import { UnsupportedBody } from './unsupported-body.js';
import { RequestValidation } from './validation.js';
import { toWireError, unknownRoute } from './wire-error.js';

/** As long as a request line can be: whether an id is too long is its schema's matter, not the router's. */
const MAX_PARAMETER_LENGTH = 16 * 1024;
/** Time for a whole request to arrive; a body fed byte by byte holds a connection no longer. */
const REQUEST_TIMEOUT_MS = 120_000;

export interface HttpAppOptions {
  /** Lists the contexts; imports `HttpModule`. */
  readonly rootModule: DynamicModule | Type;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly hooks?: (app: NestFastifyApplication) => RequestHooks;
}

/** Hooks of Fastify on every matched route. */
export interface RequestHooks {
  /**
   * Run before the body is read; what they throw is answered as any error. They never see an unknown route or a
   * preflight: those are answered without a credential.
   */
  readonly onRequest?: readonly onRequestAsyncHookHandler[];
  /** Run before an answer is sent, except a stream. */
  readonly onSend?: readonly onSendHookHandler[];
}

/**
 * The HTTP application, ready for `init()` or `listen()`. Bodies are JSON within the limits of `body-limit.ts` and
 * `platform/json`, every answer carries `x-request-id` and the CORS headers, every error has the interface's body.
 */
export async function createHttpApp({
  rootModule,
  settings,
  logger,
  hooks,
}: HttpAppOptions): Promise<NestFastifyApplication> {
  // There is none before the application, whose making needs the adapter.
  const served: { requests?: ServedRequests } = {};
  const adapter = createAdapter(() => served.requests);
  // Runs before Nest's own hooks, so that what those answer carries the headers too.
  adapter.setOnRequestHook((request: FastifyRequest, reply: FastifyReply, done: () => void) => {
    served.requests?.watch(request, reply);
    firstHook(request, reply, done);
  });
  const app = await NestFactory.create<NestFastifyApplication>(rootModule, adapter, {
    logger: new NestLogger(logger),
    abortOnError: false,
    bodyParser: false,
  });
  const fastify: FastifyInstance = adapter.getInstance();
  app.useGlobalFilters(new ErrorFilter(logger));
  app.useGlobalPipes(new RequestValidation());
  limitBodies(fastify);
  acceptJsonAlone(fastify);
  acceptMultipart(fastify, TempUploads.of(settings));
  served.requests = app.get(ServedRequests);
  app.get(OpenRequests).watch(fastify);
  app.get(OpenApiDocument).describe(app);
  const { onRequest = [], onSend = [] } = hooks?.(app) ?? {};
  for (const hook of onRequest) fastify.addHook('onRequest', hook);
  for (const hook of onSend) fastify.addHook('onSend', hook);
  // After the other hooks, which expect the answer as text and not as a stream.
  drainRefusedBodies(fastify, app.get(Clock));
  fastify.addHook('preValidation', checkUrl);
  closeConnectionsWhile(app.get(ShutdownState), fastify);
  return app;
}

/** @param served counts requests that no hook sees, once there is an application */
function createAdapter(served: () => ServedRequests | undefined): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    trustProxy: false,
    // Requests on connections that are still open while the process drains are answered like any other.
    return503OnClosing: false,
    genReqId: requestIdOf,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      served()?.watch(request, reply);
      setCommonHeaders(reply, request.id);
      sendError(reply, toWireError(error));
    },
    clientErrorHandler: clientErrorHandler((requestId, status) => served()?.unreadable(requestId, status)),
    // Everything is done in hooks; the middleware layer would only cost time on each request.
    skipMiddie: true,
  });
}

function firstHook(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  setCommonHeaders(reply, request.id);
  if (request.method === 'OPTIONS') answerPreflight(reply);
  // Before credential and body: both must not decide whether a route exists.
  else if (request.is404) sendError(reply, unknownRoute(request.method, request.url));
  else done();
}

function acceptJsonAlone(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      const encoding = headers['content-encoding'];
      // A compressed body is small to send and large to read.
      if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
        throw UnsupportedBody.ofEncoding(shown(encoding));
      return readJsonBody(body);
    },
  );
}

/** Text that the database cannot store comes through percent-encoding too. */
function checkUrl(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  checkFields(request.params, 'params');
  checkFields(request.query, 'querystring');
  done();
}

/** A client that keeps its connection would otherwise go on sending to a process that is about to end. */
function closeConnectionsWhile(shutdown: ShutdownState, fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (shutdown.isStopping) void reply.header('connection', 'close');
    done();
  });
}
