import type { FetchLike } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { EgressFailed, type EgressRequest, type EgressResponse, SafeHttp } from '../../platform/egress/index.js';
import { MAX_ANSWER_BYTES, REQUEST_MS } from './limits.js';

/** All that is read of an answer's headers. A `Location` would be followed by the protocol's library. */
const KEPT_HEADERS = ['content-type', 'www-authenticate'];
const WITHOUT_BODY = [204, 205, 304];

type OAuthRequest = Pick<EgressRequest, 'method' | 'headers' | 'body'>;

/** The way of every OAuth request: tool servers name the addresses in their metadata as they like. */
@Injectable()
export class OAuthHttp {
  constructor(
    private readonly http: SafeHttp,
    private readonly clock: Clock,
  ) {}

  /**
   * A `fetch` whose requests take at most `totalMs` together, from now on.
   * It rejects with EgressRefused or EgressFailed.
   */
  within(totalMs: number): FetchLike {
    const end = this.clock.monotonic() + totalMs;
    return async (url, init = {}) => {
      const left = end - this.clock.monotonic();
      if (left <= 0) throw new EgressFailed('timeout', { detail: 'the server used up the time of all requests' });
      const request = {
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        ...(init.body === undefined || init.body === null ? {} : { body: textOf(init.body) }),
      };
      return responseOf(await this.send(url, request, Math.min(REQUEST_MS, left)));
    };
  }

  /** As `within`, for what must not take the answer of a broken server for a refusal: its errors reject. */
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

  /** What a request without a token is refused with, whatever else the server says; its body may never end. */
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

/** The library sends text and forms. */
function textOf(body: NonNullable<RequestInit['body']>): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('A request of the OAuth library has a body of a kind that is not sent');
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
