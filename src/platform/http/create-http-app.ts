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
import { ShutdownState } from '../lifecycle/index.js';
import { type Logger, NestLogger } from '../telemetry/index.js';
import { clientErrorHandler } from './client-error.js';
import { OpenApiDocument } from './docs/open-api-document.js';
import { ErrorFilter, sendError } from './error-filter.js';
import { BODY_LIMIT, limitBodies } from './body-limit.js';
import { acceptOnlyJson, checkFields } from './json-body.js';
import { acceptMultipart } from './multipart.js';
import { OpenRequests } from './open-requests.js';
import { drainRefusedBodies } from './refused-body.js';
import { answerPreflight, requestIdOf, setCommonHeaders } from './response-headers.js';
import { ServedRequests } from './served-requests.js';
import { RequestValidation } from './validation.js';
import { toWireError, unknownRoute } from './wire-error.js';

/** The length of the longest request line, so that the schema of the route and not the router refuses ids that are too long. */
const MAX_PARAMETER_LENGTH = 16 * 1024;
/** The time in which a whole request must arrive, so that a body sent byte by byte does not keep a connection open. */
const REQUEST_TIMEOUT_MS = 120_000;

export interface HttpAppOptions {
  /** Lists the contexts; imports `HttpModule`. */
  readonly rootModule: DynamicModule | Type;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly hooks?: (app: NestFastifyApplication) => RequestHooks;
}

/** Fastify hooks on every matched route. */
export interface RequestHooks {
  /** Run before the body is read, but not for unknown routes and preflights, which need no credential. */
  readonly onRequest?: readonly onRequestAsyncHookHandler[];
  /** Run before a response is sent, except a stream. */
  readonly onSend?: readonly onSendHookHandler[];
}

/**
 * Creates the HTTP application, ready for `init()` or `listen()`. Bodies are JSON within the limits of `body-limit.ts` and
 * `platform/json`. Every response has `x-request-id` and the CORS headers, and every error has the body of the interface.
 */
export async function createHttpApp({
  rootModule,
  settings,
  logger,
  hooks,
}: HttpAppOptions): Promise<NestFastifyApplication> {
  // Set once the application exists, which cannot be created without the adapter.
  const served: { requests?: ServedRequests } = {};
  const adapter = createAdapter(() => served.requests);
  // Runs before Nest's own hooks, so that their responses have the headers too.
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
  acceptOnlyJson(fastify);
  acceptMultipart(fastify, TempUploads.of(settings));
  served.requests = app.get(ServedRequests);
  app.get(OpenRequests).watch(fastify);
  app.get(OpenApiDocument).describe(app);
  const { onRequest = [], onSend = [] } = hooks?.(app) ?? {};
  for (const hook of onRequest) fastify.addHook('onRequest', hook);
  for (const hook of onSend) fastify.addHook('onSend', hook);
  // After the other hooks, which expect the response as text and not as a stream.
  drainRefusedBodies(fastify, app.get(Clock));
  fastify.addHook('preValidation', checkUrl);
  closeConnectionsWhile(app.get(ShutdownState), fastify);
  return app;
}

/** @param served counts the requests for which no hook runs; undefined until the application exists */
function createAdapter(served: () => ServedRequests | undefined): FastifyAdapter {
  return new FastifyAdapter({
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    trustProxy: false,
    // While the process stops, requests on open connections are served like any other.
    return503OnClosing: false,
    genReqId: requestIdOf,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      served()?.watch(request, reply);
      setCommonHeaders(reply, request.id);
      sendError(reply, toWireError(error));
    },
    clientErrorHandler: clientErrorHandler((requestId, status) => served()?.unreadable(requestId, status)),
    // The service uses hooks only; the middleware layer would cost time on each request.
    skipMiddie: true,
  });
}

function firstHook(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  setCommonHeaders(reply, request.id);
  if (request.method === 'OPTIONS') answerPreflight(reply);
  // Before credential and body, because an unknown route is answered with 404 whatever they are.
  else if (request.is404) sendError(reply, unknownRoute(request.method, request.url));
  else done();
}

/** Percent-encoding can contain text that the database cannot store. */
function checkUrl(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  checkFields(request.params, 'params');
  checkFields(request.query, 'querystring');
  done();
}

/** Otherwise a client with a kept-alive connection would send its next request to a process that is about to end. */
function closeConnectionsWhile(shutdown: ShutdownState, fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (shutdown.isLeaving) void reply.header('connection', 'close');
    done();
  });
}
