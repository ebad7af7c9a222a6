/** Renewals of a session's pass in its whole life. */
export const MAX_RENEWALS = 240;

/** One visitor's time in one conversation: passes are signed for it until it expires. */
export interface Session {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
  /** The key that minted it; its revocation ends the session. */
  readonly apiKeyId: string;
  /** The key of the user in the agent's memory, which `UserKeys` makes; null when the session names none. */
  readonly userKey: string | null;
  readonly createdAt: Date;
  /** Absolute: no renewal moves it. In whole seconds, as passes tell time. */
  readonly expiresAt: Date;
}

/** The first whole second that is at least `seconds` away. */
export function wholeSecondAfter(now: Date, seconds: number): Date {
  return new Date((Math.ceil(now.getTime() / 1000) + seconds) * 1000);
}

/** Whole seconds that are left, as clients are told. */
export function secondsUntil(end: Date, now: Date): number {
  return Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000));
}

/** When a pass that is signed now ends: never after its session. Null when less than a second would be left. */
export function passEnd({ expiresAt }: Pick<Session, 'expiresAt'>, now: Date, passSeconds: number): Date | null {
  const end = new Date(Math.min(wholeSecondAfter(now, passSeconds).getTime(), expiresAt.getTime()));
  return secondsUntil(end, now) < 1 ? null : end;
}
