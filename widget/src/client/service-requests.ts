import type { Authority } from './authority.js';
import { ChatError, isLifetimeCap, readError, refusalOf } from './chat-error.js';
import { toldWait } from './retry-after.js';
import type { Seams } from './seams.js';
import type { WireError } from './wire.js';

export interface ServiceRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** From `/v1` on. */
  readonly path: string;
  readonly body?: unknown;
  readonly form?: FormData;
  /** Of a request with a form: called with the sent part, from 0 to 1. */
  readonly onProgress?: (sent: number) => void;
  readonly signal: AbortSignal;
  /** The request is idempotent, so it is repeated after a lost connection and after a failure of the service. */
  readonly repeatable?: true;
  /** A 429 is repeated without showing that the chat waits. */
  readonly quiet?: true;
  /** The visitor does not wait for the response, so a 429 is not repeated. */
  readonly background?: true;
}

const REPEATS = 4;
const WAITS = 20;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 8_000;
const DEFAULT_WAIT_S = 5;
/** The largest `Retry-After` of the service. A browser timer of weeks would overflow and fire at once. */
const MAX_WAIT_S = 3_600;

/** Sends requests to the service, and handles expired credentials and rate limits. */
export class ServiceRequests {
  private readonly baseUrl: string;
  private readonly authority: Authority;
  private readonly seams: Seams;
  private readonly onWait: (until: number | null) => void;

  /** @param onWait called with the end of a wait that the service asks for, and with null after the wait */
  constructor(baseUrl: string, authority: Authority, seams: Seams, onWait: (until: number | null) => void) {
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.authority = authority;
    this.seams = seams;
    this.onWait = onWait;
  }

  /**
   * Renews an expired credential once and repeats the request. Repeats the request after the `Retry-After` of a 429.
   * @returns a successful response
   * @throws ChatError for an error response, and with `network` if there is none; the signal's reason when it aborts
   */
  async send(request: ServiceRequest): Promise<Response> {
    let renewed = false;
    let waits = 0;
    for (let attempt = 1; ;) {
      const response = await this.attempt(request);
      if (response?.ok) return response;
      const refusal = response && (await readError(response));
      if (response?.status === 401 && isExpired(refusal) && !renewed) {
        renewed = true;
        if (await this.authority.renew(request.signal)) continue;
      }
      if (response?.status === 429 && !request.background && !isLifetimeCap(refusal?.code) && waits < WAITS) {
        waits += 1;
        const seconds = toldWait(response, MAX_WAIT_S) ?? DEFAULT_WAIT_S;
        if (request.quiet) await this.seams.sleep(seconds * 1000, request.signal);
        else await this.wait(seconds, request.signal);
        continue;
      }
      const failed = !response || response.status >= 500;
      if (failed && request.repeatable && attempt <= REPEATS) {
        attempt += 1;
        await this.pause(response && toldWait(response, MAX_WAIT_S), attempt, request.signal);
        continue;
      }
      if (!response) throw new ChatError('network', 'The service cannot be reached.');
      throw refusalOf(response.status, refusal ?? {});
    }
  }

  async json<Body>(request: ServiceRequest): Promise<Body> {
    return (await (await this.send(request)).json()) as Body;
  }

  /** @returns null if there is no response */
  private async attempt(request: ServiceRequest): Promise<Response | null> {
    const { method, path, body, form, signal, onProgress = () => undefined } = request;
    const headers = await this.authority.headers(signal);
    const url = `${this.baseUrl}${path}`;
    try {
      if (form) return await this.seams.upload(url, { headers, body: form, signal }, onProgress);
      return await this.seams.fetch(url, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        cache: 'no-store',
        signal,
      });
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  /** Waits, and shows that the chat waits. */
  async wait(seconds: number, signal: AbortSignal): Promise<void> {
    this.onWait(this.seams.now() + seconds * 1000);
    try {
      await this.seams.sleep(seconds * 1000, signal);
    } finally {
      this.onWait(null);
    }
  }

  private pause(retryAfter: number | null, attempt: number, signal: AbortSignal): Promise<void> {
    const backoff = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 2), MAX_PAUSE_MS);
    return this.seams.sleep(retryAfter === null ? backoff * (0.5 + this.seams.random()) : retryAfter * 1000, signal);
  }
}

/** Older services send no code. */
function isExpired(refusal: WireError | null): boolean {
  return refusal?.code === undefined || refusal.code === 'pass_expired';
}
