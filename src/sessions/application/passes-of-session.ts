import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { passEnd, secondsUntil, type Session } from '../domain/session.js';
import { PassTokens } from './pass-tokens.js';

/** A secret with its end, as its holder is told. */
export interface TimedToken {
  readonly token: string;
  readonly expiresAt: Date;
  readonly expiresInSeconds: number;
}

export interface SessionCredentials {
  readonly session: Session;
  readonly pass: TimedToken;
  /** Given once, at the mint. */
  readonly resumeToken?: TimedToken;
}

/** Signs the passes of a session. */
@Injectable()
export class PassesOfSession {
  constructor(
    private readonly tokens: PassTokens,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @returns null when the session is over, or as good as over */
  async sign(session: Session): Promise<TimedToken | null> {
    const now = this.clock.now();
    const end = passEnd(session, now, this.settings.sessions.passSeconds);
    return end && timed(await this.tokens.sign(session, end), end, now);
  }
}

export function timed(token: string, expiresAt: Date, now: Date): TimedToken {
  return { token, expiresAt, expiresInSeconds: secondsUntil(expiresAt, now) };
}
