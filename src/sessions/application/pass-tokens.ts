import { Injectable } from '@nestjs/common';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { PassExpired, PassInvalid } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { Session } from '../domain/session.js';
import { ALGORITHM, SigningKeys } from './signing-keys.js';

/** Constant, unlike the service's address: a pass stays good when that changes. */
const ISSUER = 'agent-service';
const AUDIENCE = 'agent-service/v1';
const TYPE = 'session-pass+jwt';

const payload = z.object({ sid: z.guid(), org: z.guid(), agent: z.guid(), thread: z.guid() });

/** What a pass says: whose it is, and what it opens. */
export interface PassClaims {
  readonly sessionId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
}

/** Signs passes and reads them again. */
@Injectable()
export class PassTokens {
  constructor(
    private readonly keys: SigningKeys,
    private readonly clock: Clock,
  ) {}

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

  /** @throws PassInvalid, PassExpired; the latter only for what this service has signed */
  async read(token: string): Promise<PassClaims> {
    if (!isSpelledOnce(token)) throw new PassInvalid();
    try {
      const verified = await jwtVerify(token, async ({ kid }) => this.keyOf(kid), {
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

  private async keyOf(kid: string | undefined) {
    const key = z.guid().safeParse(kid).success && kid !== undefined ? await this.keys.publicKey(kid) : undefined;
    if (!key) throw new PassInvalid();
    return key;
  }
}

/** The last character of a signature has bits that mean nothing: with others in them it would be a second text of the same pass. */
function isSpelledOnce(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}
