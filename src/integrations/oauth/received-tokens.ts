import type { OAuthTokens } from '@modelcontextprotocol/client';
import { MAX_LIFETIME_SECONDS, MAX_TOKEN_LENGTH, REFRESH_MARGIN_MS } from './limits.js';
import type { Tokens } from './oauth-client.js';
import { isScope } from './scopes.js';

/** What is kept of an answer of a token endpoint. */
export interface ReceivedTokens {
  readonly tokens: Omit<Tokens, 'serverUrl'>;
  readonly receivedAt: Date;
  readonly expiresAt: Date | null;
  readonly refreshAt: Date | null;
  /** Undefined where it is the one that was asked for. */
  readonly scope: string | undefined;
}

/** An answer that cannot be used; the message says which part, not what was in it. */
export class UnusableTokens extends Error {}

/** Whatever else is in it would end the header, or begin another one. */
const TOKEN = /^[\x21-\x7e]+$/;

/** @throws UnusableTokens */
export function receivedTokens(answer: OAuthTokens, now: Date): ReceivedTokens {
  const { access_token: accessToken, refresh_token: refreshToken, token_type: type, scope } = answer;
  if (type.toLowerCase() !== 'bearer') throw new UnusableTokens('token_type');
  for (const token of [accessToken, refreshToken ?? 'none']) {
    if (token.length > MAX_TOKEN_LENGTH || !TOKEN.test(token)) throw new UnusableTokens('access_token or refresh_token');
  }
  const tokens = { accessToken, ...(refreshToken !== undefined && { refreshToken }) };
  const times = timesOf(answer.expires_in, now, refreshToken !== undefined);
  return { tokens, receivedAt: now, ...times, scope: scope !== undefined && isScope(scope) ? scope : undefined };
}

function timesOf(expiresIn: number | undefined, now: Date, canRefresh: boolean): Pick<ReceivedTokens, 'expiresAt' | 'refreshAt'> {
  if (expiresIn === undefined || Number.isNaN(expiresIn)) return { expiresAt: null, refreshAt: null };
  const lifetimeMs = Math.min(Math.max(expiresIn, 0), MAX_LIFETIME_SECONDS) * 1000;
  const expiresAt = new Date(now.getTime() + lifetimeMs);
  const margin = canRefresh ? Math.min(REFRESH_MARGIN_MS, lifetimeMs / 2) : 0;
  return { expiresAt, refreshAt: new Date(expiresAt.getTime() - margin) };
}
