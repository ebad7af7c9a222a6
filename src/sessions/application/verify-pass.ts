import { Injectable } from '@nestjs/common';
import {
  PassInvalid,
  SessionPasses,
  type SessionPassPrincipal,
  type SessionPassVerifier,
  UsableApiKeys,
} from '../../access/index.js';
import { UserKeys } from '../../conversations/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { SESSION_CACHE_ENTRIES, SESSION_CACHE_MS } from '../limits.js';
import { type SessionFacts, SessionRepository } from '../persistence/session.repository.js';
import { PassTokens } from './pass-tokens.js';

/** Verifies a pass. Besides the cached facts of its session, it needs the API key, which is read every few seconds for all its sessions. */
@Injectable()
export class VerifyPass implements SessionPassVerifier {
  private readonly facts: TtlCache<SessionFacts>;

  constructor(
    passes: SessionPasses,
    private readonly tokens: PassTokens,
    private readonly sessions: SessionRepository,
    private readonly apiKeys: UsableApiKeys,
    private readonly users: UserKeys,
    clock: Clock,
  ) {
    this.facts = new TtlCache({ clock, ttlMs: SESSION_CACHE_MS, maxEntries: SESSION_CACHE_ENTRIES });
    passes.register(this);
  }

  async verify(token: string): Promise<SessionPassPrincipal> {
    const claims = await this.tokens.read(token);
    const { organizationId, sessionId } = claims;
    const facts = await this.facts.get(sessionId, () => this.findFacts(organizationId, sessionId));
    if (!facts || !(await this.apiKeys.isUsable(organizationId, facts.apiKeyId))) throw new PassInvalid();
    return { kind: 'session_pass', ...claims, userKey: facts.userKey };
  }

  private async findFacts(organizationId: string, sessionId: string): Promise<SessionFacts | undefined> {
    const facts = await this.sessions.facts(organizationId, sessionId);
    return facts && { ...facts, userKey: await this.users.current(organizationId, facts.userKey) };
  }
}
