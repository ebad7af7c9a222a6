import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Settings } from '../../../platform/config/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { DriveHttp, failureOf, readJson } from './drive-http.js';
import { MAX_TOKEN_ANSWER_BYTES, MAX_TOKEN_LENGTH, MAX_TOKEN_SECONDS, REQUEST_MS } from '../limits.js';

export interface GivenTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly lifetimeMs: number;
  /** Undefined where it is what was asked for. */
  readonly scope: string | undefined;
}

export const DRIVE_SCOPE = 'https://www.googleapis.com/auth/drive.readonly';
const DEFAULT_SECONDS = 3_600;

/** Whatever else is in it would end the header, or begin another one. */
const token = z.string().max(MAX_TOKEN_LENGTH).regex(/^[\x21-\x7e]+$/);
const tokensAnswer = z.object({
  access_token: token,
  refresh_token: token.optional(),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().optional(),
  scope: z.string().max(4_096).optional(),
});
const errorAnswer = z.object({ error: z.string().regex(/^\w{1,60}$/), error_description: z.string().optional() });

/** Answers after which the grant, or the account, will not be accepted later either. */
const FINAL_REFUSALS = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client', 'unsupported_grant_type', 'invalid_scope', 'access_denied']);

/** The token endpoint of the settings. */
@Injectable()
export class TokenEndpoint {
  constructor(
    private readonly http: DriveHttp,
    private readonly settings: Settings,
  ) {}

  /** @throws DriveFailure `refused` with the endpoint's own reason; another one where it may answer later */
  async ask(form: Readonly<Record<string, string>>): Promise<GivenTokens> {
    const response = await this.http.request(this.settings.drive.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      maxBytes: MAX_TOKEN_ANSWER_BYTES,
      timeoutMs: REQUEST_MS,
    });
    const body = await response.body.buffer().catch((error: unknown) => {
      throw failureOf(error);
    });
    if (response.status === 429) throw new DriveFailure('busy', 'The drive is asked for tokens too often at the moment.', this.http.pauseAskedFor(response));
    if (response.status >= 500) throw new DriveFailure('unreachable', `The drive gives no tokens at the moment (${response.status}).`);
    if (response.status !== 200) throw refusalIn(body, response.status, Object.values(form));
    const given = readJson(tokensAnswer, body);
    const seconds = Math.min(Math.max(given.expires_in ?? DEFAULT_SECONDS, 0), MAX_TOKEN_SECONDS);
    return { accessToken: given.access_token, refreshToken: given.refresh_token, lifetimeMs: seconds * 1_000, scope: given.scope };
  }
}

function refusalIn(body: Buffer, status: number, sent: readonly string[]): DriveFailure {
  let told: z.output<typeof errorAnswer> | undefined;
  try {
    told = errorAnswer.safeParse(JSON.parse(body.toString('utf8'))).data;
  } catch {
    told = undefined;
  }
  if (!told || !FINAL_REFUSALS.has(told.error)) return new DriveFailure('answer', `The drive gave no token (${told?.error ?? status}).`);
  return new DriveFailure('refused', `The drive gives no access: ${told.error}${wordsOf(told.error_description, sent)}.`, undefined, told.error);
}

/** Plain words, shortened, without what the endpoint was sent: a token or a key is longer than a word, a client's secret may not be. */
function wordsOf(description = '', sent: readonly string[]): string {
  const own = sent.filter((value) => value !== '').reduce((text, value) => text.replaceAll(value, ' '), description);
  const words = own.split(/\s+/).filter((word) => word.length <= 30).join(' ');
  const text = words.replaceAll(/[^\w .,:;'()-]/g, ' ').trim().slice(0, 200).replace(/\.+$/, '');
  return text === '' ? '' : ` (${text})`;
}
