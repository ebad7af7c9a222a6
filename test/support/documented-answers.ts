import type { ServerResponse } from 'node:http';
import { afterEach } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OpenApiDocument } from '../../src/platform/http/index.js';
import { DocumentedSchemas, type OpenApi } from './documented-schemas.js';
import { parseEvent } from './sse.js';

/** What was wrong with answers since the last look, by this file's services. */
const complaints: string[] = [];

afterEach(() => {
  const found = complaints.splice(0);
  if (found.length > 0) throw new Error(`Differs from the OpenAPI document:\n${found.join('\n')}`);
});

/**
 * Compares every response of an application with its OpenAPI document when it is sent. A difference fails the current test. Not
 * compared is what the document cannot contain: unknown routes and broken HTTP, which reach no hook; `HEAD` and `OPTIONS`; routes
 * without declared access; responses to callers that have disconnected.
 */
export class DocumentedAnswers {
  private schemas: DocumentedSchemas | undefined;

  /** @param isOwn whether all routes and health checks of the application are the service's own */
  constructor(
    private readonly app: NestFastifyApplication,
    private readonly isOwn: boolean,
  ) {}

  /** An `onRequest` hook; runs before any handler that may respond. */
  readonly hook = (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    this.schemas ??= this.isOwn ? ownSchemas(this.app) : schemasOf(this.app);
    const route = `${request.method} ${request.routeOptions.url ?? ''}`;
    if (this.schemas.operation(route)?.['x-scope'] !== undefined) observe(reply.raw, this.schemas, route);
    return Promise.resolve();
  };
}

function schemasOf(app: NestFastifyApplication): DocumentedSchemas {
  return new DocumentedSchemas(JSON.parse(app.get(OpenApiDocument).json()) as OpenApi);
}

/** By the routes of a service: its own modules declare the same for a route in every service. */
const own = new Map<string, DocumentedSchemas>();

/** Made once for all services of this process: making them takes longer than most tests. */
function ownSchemas(app: NestFastifyApplication): DocumentedSchemas {
  const routes = app.getHttpAdapter().getInstance().printRoutes({ commonPrefix: false });
  const schemas = own.get(routes) ?? schemasOf(app);
  own.set(routes, schemas);
  return schemas;
}

/** Both Fastify and hijacked streams pass the headers to `writeHead` and the rest of the body to `end`. */
function observe(raw: ServerResponse, schemas: DocumentedSchemas, route: string): void {
  const [writeHead, write, end] = [raw.writeHead.bind(raw), raw.write.bind(raw), raw.end.bind(raw)];
  let headers = new Headers();
  let written = '';
  const events = new SentEvents((data) => {
    const complaint = schemas.wrongEvent(route, raw.statusCode, data);
    if (complaint !== undefined) complaints.push(`${route}, event: ${complaint} ${data.slice(0, 300)}`);
  });
  raw.writeHead = (...parameters: unknown[]) => {
    headers = headersOf({ ...raw.getHeaders(), ...headersGiven(parameters.at(-1)) });
    const result: unknown = Reflect.apply(writeHead, undefined, parameters);
    // A stream's answer begins here, and its end may never come.
    if (isStream(headers)) report(schemas, route, raw.statusCode, headers, '');
    return result as ServerResponse;
  };
  raw.write = (...parameters: unknown[]) => {
    if (isStream(headers)) events.take(parameters[0]);
    // A refused body is answered before its end has come, and the answer is ended then.
    else if (isOf(headers, 'application/json')) written += textOf(parameters[0]);
    return Reflect.apply(write, undefined, parameters) as boolean;
  };
  raw.end = (...parameters: unknown[]) => {
    const [body] = parameters;
    const text = written + textOf(body);
    if (isStream(headers)) events.take(body);
    // A second call, and one after the client has left, send nothing.
    else if (!raw.writableEnded && raw.socket?.destroyed === false)
      report(schemas, route, raw.statusCode, headers, text);
    return Reflect.apply(end, undefined, parameters) as ServerResponse;
  };
}

/** Splits what a stream writes into events, and passes on the data of each. */
class SentEvents {
  private pending = '';

  constructor(private readonly complain: (data: string) => void) {}

  take(chunk: unknown): void {
    const blocks = `${this.pending}${textOf(chunk)}`.split('\n\n');
    this.pending = blocks.pop() ?? '';
    for (const { data } of blocks.flatMap((block) => parseEvent(block) ?? [])) this.complain(data);
  }
}

function textOf(chunk: unknown): string {
  return typeof chunk === 'string' || Buffer.isBuffer(chunk) ? String(chunk) : '';
}

function report(schemas: DocumentedSchemas, route: string, status: number, headers: Headers, text: string): void {
  const complaint = schemas.wrongAnswer(route, status, headers, text);
  if (complaint !== undefined) complaints.push(`${route} ${status}: ${complaint} ${text.slice(0, 300)}`);
}

function headersGiven(parameter: unknown): object {
  return typeof parameter === 'object' && parameter !== null ? parameter : {};
}

function headersOf(headers: object): Headers {
  const entries = Object.entries(headers as Record<string, unknown>).filter(([, value]) => value !== undefined);
  return new Headers(entries.map(([name, value]) => [name, String(value)]));
}

function isStream(headers: Headers): boolean {
  return isOf(headers, 'text/event-stream');
}

function isOf(headers: Headers, type: string): boolean {
  return headers.get('content-type')?.startsWith(type) ?? false;
}
