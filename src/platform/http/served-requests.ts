import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../clock/index.js';
import { AttachedValue } from '../heap/index.js';
import { type Counter, type Histogram, Metrics } from '../metrics/index.js';
import { Logger } from '../telemetry/index.js';
import { THREAD_ID_HEADER } from './response-headers.js';
import { EventStreams } from './sse.js';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const STATUSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Monitoring calls these every few seconds. */
const PROBED = new Set(['/health/live', '/health/ready', '/metrics']);
const SERVED = 'Request served';

/** What the log line of a request contains. Ids that the service has found, never as the caller wrote them. */
interface RequestFacts {
  readonly organizationId?: string;
  readonly agentId?: string;
  readonly runId?: string;
}

const factsOfRequest = new AttachedValue<object, RequestFacts>();

/** Adds to the log line of the request. */
export function addRequestFacts(request: object, facts: RequestFacts): void {
  factsOfRequest.set(request, { ...factsOfRequest.get(request), ...facts });
}

/**
 * Counts every request, and writes one line to the log when its response or stream has ended, also when the client disconnected.
 * The line contains the pattern of the route instead of the URL, whose path and query contain text of the caller. The only text of
 * the caller in it is the request id, which is short and visible ASCII.
 */
@Injectable()
export class ServedRequests {
  private readonly requests: Counter<'method' | 'status'>;
  private readonly internalErrors: Counter<'method'>;
  private readonly seconds: Histogram<'method'>;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    streams: EventStreams,
    metrics: Metrics,
  ) {
    this.requests = metrics.counter({
      name: 'agent_service_http_requests_total',
      help: 'Requests by method and class of the status; none means that the client disconnected before the response.',
      labels: { method: METHODS, status: STATUSES },
    });
    this.internalErrors = metrics.counter({
      name: 'agent_service_http_internal_errors_total',
      help: 'Responses with the status 500, which no caller, provider or endpoint of a customer causes.',
      labels: { method: METHODS },
    });
    this.seconds = metrics.histogram({
      name: 'agent_service_http_request_seconds',
      help: 'Time from the headers of a request to the end of its response, without event streams.',
      labels: { method: METHODS },
      buckets: BUCKETS,
    });
    metrics.gauge(
      { name: 'agent_service_open_streams', help: 'Event streams that this process is sending.', labels: {} },
      () => streams.count,
    );
  }

  watch(request: FastifyRequest, reply: FastifyReply): void {
    const { elapsedMs } = this.clock.stopwatch();
    let complete = false;
    // Not `writableFinished`, which the response of an injected request does not set.
    reply.raw.once('finish', () => (complete = true));
    // Emitted once for every response: finished, hijacked or aborted.
    reply.raw.once('close', () => this.served(request, reply, elapsedMs(), complete));
  }

  /** A request that the HTTP parser refused. */
  unreadable(requestId: string, status: number): void {
    this.requests.inc({ method: 'other', status: classOf(status) });
    this.logger.info({ requestId, method: null, route: null, status }, SERVED);
  }

  private served(request: FastifyRequest, reply: FastifyReply, ms: number, complete: boolean): void {
    const { method } = request;
    const { raw } = reply;
    const status = raw.headersSent ? raw.statusCode : null;
    this.requests.inc({ method, status: classOf(status) });
    if (status === 500) this.internalErrors.inc({ method });
    if (!isStream(reply)) this.seconds.observe({ method }, ms / 1_000);
    const route = request.routeOptions.url ?? null;
    const thread = reply.getHeader(THREAD_ID_HEADER);
    const fields = {
      ...{ requestId: request.id, method, route, status, ms },
      ...factsOfRequest.get(request),
      ...(typeof thread === 'string' ? { threadId: thread } : {}),
      ...(complete ? {} : { brokenOff: true }),
    };
    if (route !== null && PROBED.has(route)) this.logger.debug(fields, SERVED);
    else this.logger.info(fields, SERVED);
  }
}

function isStream(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('text/event-stream');
}

function classOf(status: number | null): string {
  return status === null ? 'none' : `${Math.trunc(status / 100)}xx`;
}
