/** Renewals of one session. */
export const MAX_RENEWALS = 240;

/** One visitor in one conversation. Passes are signed for it until it expires. */
export interface Session {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
  /** The key that minted it; its revocation ends the session. */
  readonly apiKeyId: string;
  /** Made by `UserKeys`; null if the session names no user. */
  readonly userKey: string | null;
  readonly createdAt: Date;
  /** Renewals do not change it. In whole seconds, like the times in passes. */
  readonly expiresAt: Date;
}

/** An e-mail address may change and is personal data, so it is refused as `endUser`. */
export function looksLikeEmail(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && /^[^\s@]+\.[^\s@.]+$/.test(text.slice(at + 1)) && !/\s/.test(text);
}

/** The first whole second that is at least `seconds` away. */
export function wholeSecondAfter(now: Date, seconds: number): Date {
  return new Date((Math.ceil(now.getTime() / 1000) + seconds) * 1000);
}

/** The whole seconds that are left. */
export function secondsUntil(end: Date, now: Date): number {
  return Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000));
}

/** The expiry of a pass that is signed now, at most that of its session. Null if less than a second would be left. */
export function passEnd({ expiresAt }: Pick<Session, 'expiresAt'>, now: Date, passSeconds: number): Date | null {
  const end = new Date(Math.min(wholeSecondAfter(now, passSeconds).getTime(), expiresAt.getTime()));
  return secondsUntil(end, now) < 1 ? null : end;
}
