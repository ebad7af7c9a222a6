import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { type ReceivedTokens, receivedTokens, UnusableTokens } from '../../../platform/oauth/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { MAX_TOKEN_RESPONSE_BYTES, REQUEST_MS } from '../limits.js';
import { DriveHttp, parseJson, readJson } from './drive-http.js';

export const DRIVE_SCOPE = 'https://www.googleapis.com/auth/drive.readonly';
const DEFAULT_SECONDS = 3_600;

const errorResponse = z.object({ error: z.string().regex(/^\w{1,60}$/), error_description: z.string().optional() });

/** Errors after which a later request with the same grant or account fails too. */
const FINAL_REFUSALS = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
]);

/** The token endpoint in the settings. */
@Injectable()
export class TokenEndpoint {
  constructor(
    private readonly http: DriveHttp,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @throws DriveFailure: `refused` with the endpoint's error as detail, or another reason where a later request may succeed */
  async request(form: Readonly<Record<string, string>>): Promise<ReceivedTokens> {
    const { status, body, retryAfterMs } = await this.http.request(this.settings.drive.tokenUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams(form).toString(),
      maxBytes: MAX_TOKEN_RESPONSE_BYTES,
      timeoutMs: REQUEST_MS,
    });
    if (status === 429)
      throw new DriveFailure('busy', 'The drive limits the rate of token requests.', { retryAfterMs });
    if (status >= 500) throw new DriveFailure('unreachable', `The drive issues no tokens at the moment (${status}).`);
    if (status !== 200) throw toFailure(body, status, Object.values(form));
    try {
      const response = readJson(z.record(z.string(), z.unknown()), body);
      return receivedTokens({ expires_in: DEFAULT_SECONDS, ...response }, this.clock.now());
    } catch (error) {
      if (!(error instanceof UnusableTokens)) throw error;
      const { message: detail } = error;
      throw new DriveFailure('answer', 'The drive issued tokens that cannot be used.', { detail });
    }
  }
}

function toFailure(body: Buffer, status: number, sent: readonly string[]): DriveFailure {
  const response = parseJson(errorResponse, body);
  if (!response || !FINAL_REFUSALS.has(response.error))
    return new DriveFailure('answer', `The drive issued no token (${response?.error ?? status}).`);
  const { error: detail, error_description: description } = response;
  const message = `The drive refuses access: ${detail}${readableDescription(description, sent)}.`;
  return new DriveFailure('refused', message, { detail });
}

/** Short plain text without secrets: neither values that were sent, nor long words, which may be tokens or keys. */
function readableDescription(description = '', sent: readonly string[]): string {
  let text = description;
  for (const value of sent) if (value !== '') text = text.replaceAll(value, ' ');
  const words = text.split(/\s+/).filter((word) => word.length <= 30);
  const plain = words.join(' ').replaceAll(/[^\w .,:;'()-]/g, ' ');
  const shown = plain.trim().slice(0, 200).replace(/\.+$/, '');
  return shown === '' ? '' : ` (${shown})`;
}
