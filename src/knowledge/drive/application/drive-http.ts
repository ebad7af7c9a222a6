import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { EgressFailed, EgressRefused, type EgressRequest, type EgressResponse, OperatorHttp, retryAfterMs } from '../../../platform/egress/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { MAX_ANSWER_BYTES, REQUEST_MS } from '../limits.js';

/** Who asks: the bearer tokens of a service account or of a person's sign-in. */
export interface DriveAccess {
  /** @throws DriveFailure */
  token(): Promise<string>;
  /** The drive does not take this one, so it is not used again. */
  forget(token: string): void;
}

export interface DriveRequest {
  /** Begins with `/drive/v3/`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Refusals of the account as a whole; others are about the one file. */
const ACCOUNT_REFUSALS = new Set(['accessNotConfigured', 'authError', 'insufficientPermissions', 'domainPolicy', 'accountDisabled', 'SERVICE_DISABLED']);
const RATE_LIMITS = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'dailyLimitExceeded', 'sharingRateLimitExceeded', 'quotaExceeded']);
const EXPORT_TOO_LARGE = 'exportSizeLimitExceeded';

const errorBody = z.object({ error: z.object({ errors: z.array(z.object({ reason: z.string() })).max(20).optional() }) });

/** Requests to the drive of the settings and to no other host; what it refuses is told as `DriveFailure`. */
@Injectable()
export class DriveHttp {
  constructor(
    private readonly http: OperatorHttp,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** Asks once more with another token where the drive does not take the present one. @throws DriveFailure; the reason of `signal` */
  async get(access: DriveAccess, request: DriveRequest): Promise<Buffer> {
    const token = await access.token();
    const first = await this.send(token, request);
    if (first.status !== 401) return this.bodyOf(first);
    first.body.discard();
    access.forget(token);
    const again = await access.token();
    const second = await this.send(again, request);
    if (second.status !== 401) return this.bodyOf(second);
    second.body.discard();
    access.forget(again);
    throw new DriveFailure('refused', 'The drive does not accept the credentials any more (401).');
  }

  /** Whatever else is wrong with an answer is the drive's own fault. */
  async json<Schema extends z.ZodType>(access: DriveAccess, schema: Schema, request: DriveRequest): Promise<z.output<Schema>> {
    return readJson(schema, await this.get(access, request));
  }

  async request(url: string, request: Omit<EgressRequest, 'purpose' | 'redirects'>): Promise<EgressResponse> {
    try {
      return await this.http.request(url, { ...request, purpose: 'drive', redirects: 'none' });
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** In milliseconds; undefined where the answer asks for none. */
  pauseAskedFor({ headers }: EgressResponse): number | undefined {
    return retryAfterMs(headers['retry-after'], this.clock.now()) ?? undefined;
  }

  private send(token: string, { path, query, maxBytes = MAX_ANSWER_BYTES, timeoutMs = REQUEST_MS, signal }: DriveRequest): Promise<EgressResponse> {
    const url = new URL(`${new URL(this.settings.drive.apiBaseUrl).origin}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return this.request(url.href, {
      headers: { authorization: `Bearer ${token}`, accept: '*/*' },
      maxBytes: ({ status }) => (status === 200 ? maxBytes : MAX_ANSWER_BYTES),
      timeoutMs,
      ...(signal && { signal }),
    });
  }

  private async bodyOf(response: EgressResponse): Promise<Buffer> {
    let body: Buffer;
    try {
      body = await response.body.buffer();
    } catch (error) {
      throw failureOf(error);
    }
    if (response.status === 200) return body;
    throw refusalOf(response, body, this.pauseAskedFor(response));
  }
}

export function readJson<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new DriveFailure('answer', 'The drive answered with something that is not JSON.');
  }
  const { data, success } = schema.safeParse(json);
  if (!success) throw new DriveFailure('answer', 'The drive answered with something that is not of its API.');
  return data;
}

/** What kept a request from being answered; anything else is given back as it is. */
export function failureOf(error: unknown): unknown {
  if (error instanceof EgressFailed) {
    const { detail } = error;
    if (error.reason === 'too_large') return new DriveFailure('too_large', 'The file is larger than accepted.', undefined, detail);
    if (error.reason === 'timeout') return new DriveFailure('unreachable', 'The drive did not answer in time.', undefined, detail);
    return new DriveFailure('unreachable', 'The drive cannot be reached.', undefined, detail);
  }
  if (error instanceof EgressRefused) return new DriveFailure('unreachable', 'The drive cannot be reached.', undefined, error.detail);
  return error;
}

function refusalOf({ status }: EgressResponse, body: Buffer, pauseMs: number | undefined): DriveFailure {
  const reasons = reasonsIn(body);
  const has = (known: ReadonlySet<string>): boolean => reasons.some((reason) => known.has(reason));
  if (status === 429 || (status === 403 && has(RATE_LIMITS))) {
    return new DriveFailure('busy', 'The drive is asked too often at the moment; try again later.', pauseMs);
  }
  if (status < 400) return new DriveFailure('answer', `The drive answered with a status that its API does not have (${status})${status >= 300 ? '; redirects are not followed' : ''}.`);
  if (status >= 500) return new DriveFailure('unreachable', `The drive does not work at the moment (${status}).`, pauseMs);
  if (status === 403 && reasons.includes(EXPORT_TOO_LARGE)) return new DriveFailure('export_too_large', 'The document is too large for the drive to export.');
  if (status === 403 && has(ACCOUNT_REFUSALS)) return new DriveFailure('refused', `The drive refuses access to this account (${String(reasons[0])}).`);
  if (status === 403) return new DriveFailure('forbidden', 'The drive does not let the file be read (403).');
  if (status === 404 || status === 410) return new DriveFailure('not_found', `The drive has no such file, or it is not shared (${status}).`);
  return new DriveFailure('bad_request', `The drive does not take the request (${status}).`);
}

/** Names of the API alone: what else the drive says may be anything. */
function reasonsIn(body: Buffer): string[] {
  try {
    const { data } = errorBody.safeParse(JSON.parse(body.toString('utf8')));
    return (data?.error.errors ?? []).map(({ reason }) => reason).filter((reason) => /^\w{1,60}$/.test(reason));
  } catch {
    return [];
  }
}
