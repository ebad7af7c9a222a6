import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { CallerSpan } from '../ports/index.js';

/** W3C Trace Context: version, trace id, parent span id, flags. Later versions may add fields after them. */
const TRACE_PARENT =
  /^(?!ff)(?<version>[\da-f]{2})-(?<traceId>(?!0{32})[\da-f]{32})-(?<spanId>(?!0{16})[\da-f]{16})-[\da-f]{2}(?<more>-.*)?$/;

/** @returns null for a header that is absent or malformed; the run then starts a new trace */
export function readTraceParent(header: string | readonly string[] | undefined): CallerSpan | null {
  const { version, traceId, spanId, more } =
    (typeof header === 'string' ? TRACE_PARENT.exec(header)?.groups : undefined) ?? {};
  if (traceId === undefined || spanId === undefined) return null;
  return version === '00' && more !== undefined ? null : { traceId, spanId };
}

export const ApiTraceParent = (): MethodDecorator =>
  ApiHeader({
    name: 'traceparent',
    required: false,
    description:
      'W3C Trace Context. Where the operator has an OpenTelemetry backend, the spans of the run become children of this span. ' +
      'A malformed value is ignored.',
    schema: { type: 'string' },
  });

/** Null without a span. */
export const TraceParent = createParamDecorator((_data: unknown, context: ExecutionContext): CallerSpan | null =>
  readTraceParent(context.switchToHttp().getRequest<FastifyRequest>().headers['traceparent']),
);
