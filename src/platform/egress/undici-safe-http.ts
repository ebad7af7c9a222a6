import type { OnApplicationShutdown } from '@nestjs/common';
import { Agent, type Dispatcher, errors } from 'undici';
import type { Clock } from '../clock/index.js';
import { codeOf, DomainError } from '../errors/index.js';
import { EgressFailed, EgressRefused } from './egress.errors.js';
import { type ConnectorOptions, guardedConnector } from './guarded-connector.js';
import { ReceivedBody } from './received-body.js';
import { followed, type Hop, locationOf } from './redirect.js';
import { requestHeaders, responseHeaders } from './request-headers.js';
import {
  type EgressPurpose,
  type EgressRequest,
  type EgressResponse,
  type FollowRedirects,
  SafeHttp,
} from './safe-http.js';
import { type Exemptions, targetOf } from './target.js';
import { TimeLimit } from './time-limit.js';
import { KEEP_ALIVE_MS } from './limits.js';

/** Their requests contain secrets for one configured address. */
const NEVER_REDIRECTED: readonly EgressPurpose[] = ['hook', 'mcp'];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Dispatcher.ResponseData['body'];
}

export class UndiciSafeHttp extends SafeHttp implements OnApplicationShutdown {
  private readonly agent: Agent;
  private readonly clock: Clock;
  private readonly exemptions: Exemptions;

  constructor(options: ConnectorOptions) {
    super();
    this.clock = options.clock;
    this.exemptions = options.exemptions;
    this.agent = new Agent({
      connect: guardedConnector(options),
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // Off: each request has its own limits, on the service's clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  check(url: string, purpose: EgressPurpose): void {
    targetOf(url, purpose, this.exemptions);
  }

  async request(url: string | URL, request: EgressRequest): Promise<EgressResponse> {
    const limit = new TimeLimit(this.clock, request.timeoutMs, request.signal);
    try {
      const { hop, answer } = await this.answerOf(this.firstHop(url, request), request, limit);
      const maxBytes = typeof request.maxBytes === 'function' ? request.maxBytes(answer) : request.maxBytes;
      const body = new ReceivedBody(answer.body, answer.headers['content-encoding'], maxBytes, limit);
      return { url: hop.url.href, status: answer.status, headers: answer.headers, body };
    } catch (error) {
      limit.end();
      throw explained(error, limit.signal);
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  private firstHop(url: string | URL, { purpose, method = 'GET', headers, body }: EgressRequest): Hop {
    const target = targetOf(url, purpose, this.exemptions);
    return { url: target, method: method.toUpperCase(), headers: requestHeaders(headers), body };
  }

  private async answerOf(first: Hop, request: EgressRequest, limit: TimeLimit): Promise<{ hop: Hop; answer: Answer }> {
    const redirects = NEVER_REDIRECTED.includes(request.purpose) ? 'none' : request.redirects;
    for (let hop = first, count = 0; ; count += 1) {
      const answer = await this.send(hop, request, limit);
      const location = locationOf(answer.status, answer.headers['location']);
      if (redirects === 'none' || location === undefined) return { hop, answer };
      answer.body.on('error', () => undefined).destroy();
      if (count >= redirects.max)
        throw new EgressFailed('redirect', { detail: `more than ${redirects.max} redirects` });
      hop = followed(hop, answer.status, await this.destination(location, hop.url, request.purpose, redirects));
    }
  }

  private async destination(
    location: string,
    from: URL,
    purpose: EgressPurpose,
    { check }: FollowRedirects,
  ): Promise<URL> {
    const absolute = URL.parse(location, from.href);
    if (!absolute) throw new EgressFailed('redirect', { detail: 'a Location that is no URL' });
    const url = targetOf(absolute, purpose, this.exemptions);
    if (check && !(await check(new URL(url)))) throw new EgressFailed('redirect', { detail: 'refused by the caller' });
    return url;
  }

  private async send(hop: Hop, request: EgressRequest, limit: TimeLimit): Promise<Answer> {
    const lift = limit.abortAfter(request.headersTimeoutMs ?? request.timeoutMs, 'the headers');
    try {
      const { statusCode, headers, body } = await this.agent.request({
        origin: hop.url.origin,
        path: `${hop.url.pathname}${hop.url.search}`,
        method: hop.method,
        headers: { ...hop.headers },
        body: hop.body ?? null,
        signal: limit.signal,
      });
      return { status: statusCode, headers: responseHeaders(headers), body };
    } finally {
      lift();
    }
  }
}

function explained(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof DomainError) return error;
  const code = codeOf(error) ?? '';
  if (code === 'UND_ERR_INVALID_ARG') {
    return new EgressRefused('url', { message: 'The method or a header of the request is not valid.', cause: error });
  }
  // Not all errors of the parser have a code.
  const isMalformed = error instanceof errors.HTTPParserError || code === 'UND_ERR_HEADERS_OVERFLOW';
  return new EgressFailed(isMalformed ? 'protocol' : 'connect', { detail: code, cause: error });
}
