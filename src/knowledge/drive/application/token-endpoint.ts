import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { type ReceivedTokens, receivedTokens, UnusableTokens } from '../../../platform/oauth/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { MAX_TOKEN_ANSWER_BYTES, REQUEST_MS } from '../limits.js';
import { DriveHttp, readJson } from './drive-http.js';

export const DRIVE_SCOPE = 'https://www.googleapis.com/auth/drive.readonly';
const DEFAULT_SECONDS = 3_600;

const errorAnswer = z.object({ error: z.string().regex(/^\w{1,60}$/), error_description: z.string().optional() });

/** Answers after which the grant, or the account, will not be accepted later either. */
const FINAL_REFUSALS = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
]);

/** The token endpoint of the settings. */
@Injectable()
export class TokenEndpoint {
  constructor(
    private readonly http: DriveHttp,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveFailure `refused` with the endpoint's own reason; another one where it may answer later */
  async ask(form: Readonly<Record<string, string>>): Promise<ReceivedTokens> {
    const { status, body, retryAfterMs } = await this.http.request(this.settings.drive.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      maxBytes: MAX_TOKEN_ANSWER_BYTES,
      timeoutMs: REQUEST_MS,
    });
    if (status === 429)
      throw new DriveFailure('busy', 'The drive is asked for tokens too often at the moment.', retryAfterMs);
    if (status >= 500) throw new DriveFailure('unreachable', `The drive gives no tokens at the moment (${status}).`);
    if (status !== 200) throw refusalIn(body, status, Object.values(form));
    try {
      return receivedTokens(
        { expires_in: DEFAULT_SECONDS, ...readJson(z.record(z.string(), z.unknown()), body) },
        this.clock.now(),
      );
    } catch (error) {
      if (!(error instanceof UnusableTokens)) throw error;
      throw new DriveFailure('answer', 'The drive answered with tokens that cannot be used.', undefined, error.message);
    }
  }
}

function refusalIn(body: Buffer, status: number, sent: readonly string[]): DriveFailure {
  let told: z.output<typeof errorAnswer> | undefined;
  try {
    told = errorAnswer.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    told = undefined;
  }
  if (!told || !FINAL_REFUSALS.has(told.error))
    return new DriveFailure('answer', `The drive gave no token (${told?.error ?? status}).`);
  return new DriveFailure(
    'refused',
    `The drive gives no access: ${told.error}${wordsOf(told.error_description, sent)}.`,
    undefined,
    told.error,
  );
}

/** Plain words, shortened, without what the endpoint was sent: a token or a key is longer than a word, a client's secret may not be. */
function wordsOf(description = '', sent: readonly string[]): string {
  const own = sent.filter((value) => value !== '').reduce((text, value) => text.replaceAll(value, ' '), description);
  const words = own
    .split(/\s+/)
    .filter((word) => word.length <= 30)
    .join(' ');
  const text = words
    .replaceAll(/[^\w .,:;'()-]/g, ' ')
    .trim()
    .slice(0, 200)
    .replace(/\.+$/, '');
  return text === '' ? '' : ` (${text})`;
}
