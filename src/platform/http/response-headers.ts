import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { newId } from '../ids/index.js';

export const REQUEST_ID_HEADER = 'x-request-id';
/** The id of the thread that a request was about. */
export const THREAD_ID_HEADER = 'x-thread-id';

const KEPT_REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's `x-request-id` if it is at most 128 visible ASCII characters, otherwise a new one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && KEPT_REQUEST_ID.test(given) ? given : newId();
}

/** Every origin may read every response, because the credential is the `Authorization` header and never a cookie. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': `RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ${THREAD_ID_HEADER}`,
};

const PREFLIGHT_HEADERS: Readonly<Record<string, string>> = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS',
  'access-control-allow-headers': 'content-type, authorization, connection, cache-control, x-requested-with',
  // The longest time that Chromium accepts; the response never changes.
  'access-control-max-age': '7200',
};

/** Sets the headers of every response, errors included. */
export function setCommonHeaders(reply: FastifyReply, requestId: string): void {
  void reply.header(REQUEST_ID_HEADER, requestId).headers(CORS_HEADERS);
}

/** Needs no credential, because browsers send the preflight without it. */
export function answerPreflight(reply: FastifyReply): void {
  void reply.status(204).headers(PREFLIGHT_HEADERS).send();
}

/** The headers set so far, for a response that Fastify does not send itself. */
export function headersSetOn(reply: FastifyReply): OutgoingHttpHeaders {
  return reply.getHeaders() as OutgoingHttpHeaders;
}
