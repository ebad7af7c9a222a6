import { Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { PassExpired, PassInvalid } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { passEnd, secondsUntil, type Session } from '../domain/session.js';
import { ALGORITHM, SigningKeys } from './signing-keys.js';

/** A constant and not the service's address, so that passes stay valid when the address changes. */
const ISSUER = 'agent-service';
const AUDIENCE = 'agent-service/v1';
const TYPE = 'session-pass+jwt';

const payload = z.object({ sid: z.guid(), org: z.guid(), agent: z.guid(), thread: z.guid() });

export interface PassClaims {
  readonly sessionId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
}

/** A secret with its expiry, as responses show it. */
export interface TimedToken {
  readonly token: string;
  readonly expiresAt: Date;
  readonly expiresInSeconds: number;
}

export interface SessionCredentials {
  readonly session: Session;
  readonly pass: TimedToken;
}

@Injectable()
export class PassTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @returns null if the session has ended or has less than a second left */
  async issue(session: Session): Promise<TimedToken | null> {
    const now = this.clock.now();
    const end = passEnd(session, now, this.settings.sessions.passSeconds);
    return end && timedToken(await this.sign(session, end), end, now);
  }

  async sign({ id, organizationId, agentId, threadId }: Session, expiresAt: Date): Promise<string> {
    const { kid, key } = await this.keys.current();
    return new SignJWT({ sid: id, org: organizationId, agent: agentId, thread: threadId })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPE })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setIssuedAt(this.clock.now())
      .setExpirationTime(expiresAt)
      .sign(key);
  }

  /** @throws PassInvalid, PassExpired; the latter only for tokens that this service signed */
  async read(token: string): Promise<PassClaims> {
    if (!hasCanonicalSignature(token)) throw new PassInvalid();
    try {
      const verified = await jwtVerify(token, async ({ kid }) => this.requireKey(kid), {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: TYPE,
        requiredClaims: ['exp', 'iat'],
        currentDate: this.clock.now(),
      });
      const { sid, org, agent, thread } = payload.parse(verified.payload);
      return { sessionId: sid, organizationId: org, agentId: agent, threadId: thread };
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw new PassExpired();
      if (error instanceof errors.JOSEError || error instanceof z.ZodError) throw new PassInvalid();
      throw error;
    }
  }

  private async requireKey(kid: string | undefined) {
    const key = z.guid().safeParse(kid).success && kid !== undefined ? await this.keys.publicKey(kid) : undefined;
    if (!key) throw new PassInvalid();
    return key;
  }
}

export function timedToken(token: string, expiresAt: Date, now: Date): TimedToken {
  return { token, expiresAt, expiresInSeconds: secondsUntil(expiresAt, now) };
}

/** The last character of a signature has unused bits: a token that sets them would be a second valid text of the same pass. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}
