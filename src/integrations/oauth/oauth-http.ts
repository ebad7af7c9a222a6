import type { FetchLike } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EgressFailed, type EgressRequest, type EgressResponse, SafeHttp } from '../../platform/egress/index.js';
import { MAX_ANSWER_BYTES, REQUEST_MS } from './limits.js';

/** The headers of answers that are passed on. The SDK would follow a `Location`. */
const KEPT_HEADERS = ['content-type', 'www-authenticate'];
const WITHOUT_BODY = [204, 205, 304];

type OAuthRequest = Pick<EgressRequest, 'method' | 'headers' | 'body'>;

/** Sends every OAuth request. The addresses come from the metadata of tool servers, so they are not trusted. */
@Injectable()
export class OAuthHttp {
  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /** A `fetch` whose requests together take at most `totalMs`. It rejects with EgressRefused or EgressFailed. */
  within(totalMs: number): FetchLike {
    const end = this.clock.monotonic() + totalMs;
    return async (url, init = {}) => {
      const left = end - this.clock.monotonic();
      if (left <= 0) throw new EgressFailed('timeout', { detail: 'the requests together exceeded their timeout' });
      const request = {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(init.body === undefined || init.body === null ? {} : { body: await new Response(init.body).text() }),
      };
      return responseOf(await this.send(url, request, Math.min(REQUEST_MS, left)));
    };
  }

  /** As `within`, but rejects for the status 429 and above 499, which must not count as a refusal of the server. */
  refusingErrors(totalMs: number): FetchLike {
    const fetchWithin = this.within(totalMs);
    return async (url, init) => {
      const response = await fetchWithin(url, init);
      if (response.status >= 500 || response.status === 429) {
        throw new EgressFailed('connect', { detail: `HTTP ${response.status}` });
      }
      return response;
    };
  }

  /** The status and headers of an answer without a token. Its body may never end, so it is not read. */
  async challengeOf(url: string, request: OAuthRequest): Promise<Response> {
    const answer = await this.send(url, request, REQUEST_MS);
    answer.body.discard();
    return new Response(null, { status: statusOf(answer), headers: headersOf(answer) });
  }

  private send(url: string | URL, request: OAuthRequest, timeoutMs: number): Promise<EgressResponse> {
    return this.http.request(url, {
      ...request,
      purpose: 'oauth',
      maxBytes: MAX_ANSWER_BYTES,
      timeoutMs,
      redirects: 'none',
    });
  }
}

async function responseOf(answer: EgressResponse): Promise<Response> {
  const body = await answer.body.text();
  const status = statusOf(answer);
  return new Response(WITHOUT_BODY.includes(status) ? null : body, { status, headers: headersOf(answer) });
}

function statusOf({ status }: EgressResponse): number {
  if (status < 200 || status > 599) throw new EgressFailed('protocol', { detail: `HTTP ${status}` });
  return status;
}

function headersOf({ headers }: EgressResponse): Headers {
  const kept = new Headers();
  for (const name of KEPT_HEADERS) {
    const value = headers[name];
    if (value !== undefined && /^[\t\x20-\x7e]*$/.test(value)) kept.set(name, value);
  }
  return kept;
}
