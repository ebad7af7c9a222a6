import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { passEnd, secondsUntil, type Session } from '../domain/session.js';
import { PassTokens } from './pass-tokens.js';

/** A secret with its expiry, as responses show it. */
export interface TimedToken {
  readonly token: string;
  readonly expiresAt: Date;
  readonly expiresInSeconds: number;
}

export interface SessionCredentials {
  readonly session: Session;
  readonly pass: TimedToken;
  /** Only when the session is minted. */
  readonly resumeToken?: TimedToken;
}

/** Signs a pass for a session. */
@Injectable()
export class SignPass {
  constructor(
    private readonly tokens: PassTokens,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @returns null if the session has ended or has less than a second left */
  async execute(session: Session): Promise<TimedToken | null> {
    const now = this.clock.now();
    const end = passEnd(session, now, this.settings.sessions.passSeconds);
    return end && timedToken(await this.tokens.sign(session, end), end, now);
  }
}

export function timedToken(token: string, expiresAt: Date, now: Date): TimedToken {
  return { token, expiresAt, expiresInSeconds: secondsUntil(expiresAt, now) };
}
