import { z } from 'zod';
import { MAX_LIFETIME_SECONDS, MAX_SCOPE_LENGTH, MAX_TOKEN_LENGTH, REFRESH_MARGIN_MS } from './limits.js';

export interface ReceivedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Undefined if it is the requested one. */
  readonly scope: string | undefined;
  readonly receivedAt: Date;
  /** Null if the endpoint does not say. */
  readonly expiresAt: Date | null;
  /** When the access token is due to be refreshed. */
  readonly refreshAt: Date | null;
}

/** The response cannot be used; the message names the wrong fields without their values. */
export class UnusableTokens extends Error {}

/** RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;
/** Other characters could end the header or begin another one. */
const token = z
  .string()
  .max(MAX_TOKEN_LENGTH)
  .regex(/^[\x21-\x7e]+$/);
const answerSchema = z.object({
  access_token: token,
  refresh_token: token.optional(),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().optional().catch(undefined),
  scope: z.string().refine(isScope).optional().catch(undefined),
});

/**
 * @param answer the parsed JSON of a response with the status 200
 * @throws UnusableTokens
 */
export function receivedTokens(answer: unknown, now: Date): ReceivedTokens {
  const { data, error } = answerSchema.safeParse(answer);
  if (!data) throw new UnusableTokens(error.issues.map(({ path }) => path.join('.')).join(', '));
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds, scope } = data;
  return { accessToken, refreshToken, scope, receivedAt: now, ...timesOf(seconds, now, refreshToken !== undefined) };
}

/** Whether it is a valid scope of RFC 6749 that can be stored. */
export function isScope(scope: string): boolean {
  return scope.length <= MAX_SCOPE_LENGTH && SCOPE.test(scope);
}

function timesOf(
  seconds: number | undefined,
  now: Date,
  canRefresh: boolean,
): Pick<ReceivedTokens, 'expiresAt' | 'refreshAt'> {
  if (seconds === undefined) return { expiresAt: null, refreshAt: null };
  const lifetimeMs = Math.min(Math.max(seconds, 0), MAX_LIFETIME_SECONDS) * 1_000;
  const expiresAt = new Date(now.getTime() + lifetimeMs);
  const margin = canRefresh ? Math.min(REFRESH_MARGIN_MS, lifetimeMs / 2) : 0;
  return { expiresAt, refreshAt: new Date(expiresAt.getTime() - margin) };
}
