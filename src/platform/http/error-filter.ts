import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../errors/index.js';
import { Logger } from '../telemetry/index.js';
import { headersSetOn } from './response-headers.js';
import { toWireError, unknownRoute, type WireError } from './wire-error.js';

/** Turns every error into a response; see `toWireError` for the bodies. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const wire = isUnmatched(error) ? unknownRoute(request.method, request.url) : toWireError(error);
    this.report(error, wire, request);
    sendError(reply, wire);
  }

  private report(error: unknown, { status }: WireError, request: FastifyRequest): void {
    const fields = { requestId: request.id, method: request.method, route: request.routeOptions.url, status };
    if (hasDisconnected(request)) this.logger.debug(fields, 'The client disconnected before its request was read');
    else if (status >= 500) this.logger.error({ ...fields, err: error }, 'A request failed');
    else if (error instanceof DomainError && (error.detail ?? error.cause) !== undefined) {
      this.logger.debug({ ...fields, err: error }, 'A request was refused');
    }
  }
}

/** Nest throws this when no route matches. */
function isUnmatched(error: unknown): boolean {
  return error instanceof NotFoundException && error.message.startsWith('Cannot ');
}

/** Sends the error in any state of the response. */
export function sendError(reply: FastifyReply, wire: WireError): void {
  const { raw } = reply;
  if (raw.headersSent) {
    // Part of another response is sent, and only a broken connection shows the client that it is incomplete.
    raw.destroy();
  } else if (reply.sent) {
    // The handler hijacked the response before writing, so Fastify does not send it.
    const type = 'application/json; charset=utf-8';
    raw.writeHead(wire.status, { ...headersSetOn(reply), ...wire.headers, 'content-type': type });
    raw.end(JSON.stringify(wire.body));
  } else {
    void reply.status(wire.status).headers(wire.headers).send(wire.body);
  }
}

/** The client disconnected before its request was complete, so the failure is no error of the service. */
function hasDisconnected(request: FastifyRequest): boolean {
  return request.raw.destroyed && !request.raw.complete;
}
