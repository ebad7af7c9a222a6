import { Injectable } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { type ApiKeyPrincipal, ForbiddenByAgentAllowlist, mayUseAgent, UsableApiKeys } from '../../access/index.js';
import { AgentDirectory } from '../../agents/index.js';
import { UserKeys, WidgetConversations } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { digestResumeToken, isResumeToken } from '../domain/resume-token.js';
import type { Session } from '../domain/session.js';
import {
  ResumeTokenExpired,
  ResumeTokenInvalid,
  SessionAgentNotFound,
  SessionRenewalsUsed,
  SessionThreadNotFound,
} from '../domain/sessions.errors.js';
import { SessionRepository } from '../persistence/session.repository.js';
import { PassTokens, type SessionCredentials } from './pass-tokens.js';

export interface RenewCommand {
  readonly resumeToken: string;
  readonly endUser: string | undefined;
}

/** Signs a new pass for a session, whose expiry does not change. */
@Injectable()
export class RenewSession {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly agents: AgentDirectory,
    private readonly apiKeys: UsableApiKeys,
    private readonly conversations: WidgetConversations,
    private readonly users: UserKeys,
    private readonly passes: PassTokens,
    private readonly clock: Clock,
  ) {}

  /**
   * Counts no renewal if it throws.
   * @throws ResumeTokenInvalid, ResumeTokenExpired, SessionAgentNotFound, SessionThreadNotFound, SessionRenewalsUsed,
   * ForbiddenByAgentAllowlist
   */
  async execute(caller: ApiKeyPrincipal, { resumeToken, endUser }: RenewCommand): Promise<SessionCredentials> {
    const session = await this.find(caller.organizationId, resumeToken);
    // Before the user is compared: a job removes the user from sessions of deleted agents.
    await this.requireAgent(caller, session);
    if (!(await this.belongsTo(session, endUser))) throw new ResumeTokenInvalid();
    if (session.expiresAt <= this.clock.now()) throw new ResumeTokenExpired();
    const agentOfThread = await this.conversations.agentOf(session.organizationId, session.threadId);
    if (agentOfThread !== session.agentId) throw new SessionThreadNotFound();
    if (!(await this.sessions.countRenewal(session.organizationId, session.id))) throw new SessionRenewalsUsed();
    const pass = await this.passes.issue(session);
    if (!pass) throw new ResumeTokenExpired();
    return { session, pass };
  }

  private async find(organizationId: string, token: string): Promise<Session> {
    const found = isResumeToken(token)
      ? await this.sessions.findByToken(organizationId, digestResumeToken(token))
      : null;
    if (!found || !(await this.apiKeys.isUsable(organizationId, found.apiKeyId))) throw new ResumeTokenInvalid();
    return found;
  }

  /** Whether the session was minted for exactly this `endUser`, or for none if it is undefined. */
  private async belongsTo({ organizationId, userKey }: Session, endUser: string | undefined): Promise<boolean> {
    const [stored, given] = await Promise.all([
      this.users.current(organizationId, userKey),
      this.users.of(organizationId, endUser),
    ]);
    if (stored === null || given === null) return stored === null && endUser === undefined;
    return timingSafeEqual(Buffer.from(stored), Buffer.from(given));
  }

  private async requireAgent(caller: ApiKeyPrincipal, { organizationId, agentId }: Session): Promise<void> {
    if (!(await this.agents.current(organizationId, agentId))) throw new SessionAgentNotFound();
    if (!mayUseAgent(caller, agentId)) throw new ForbiddenByAgentAllowlist();
  }
}
