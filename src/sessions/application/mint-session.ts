import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { UserKeys, WidgetConversations } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { DomainError, ValidationFailed } from '../../platform/errors/index.js';
import { newId } from '../../platform/ids/index.js';
import { digestResumeToken, newResumeToken } from '../domain/resume-token.js';
import { looksLikeEmail, type Session, wholeSecondAfter } from '../domain/session.js';
import { SessionAgentNotFound, SessionThreadNotFound } from '../domain/sessions.errors.js';
import { SessionRepository } from '../persistence/session.repository.js';
import { PassTokens, type SessionCredentials, type TimedToken, timedToken } from './pass-tokens.js';

export interface MintCommand {
  readonly agentId: string;
  /** The customer's id of its visitor. */
  readonly endUser: string | undefined;
  /** The conversation to continue; a new one is opened if undefined. */
  readonly threadId: string | undefined;
}

/** Starts a session: one visitor in one conversation with one agent. */
@Injectable()
export class MintSession {
  constructor(
    private readonly conversations: WidgetConversations,
    private readonly users: UserKeys,
    private readonly sessions: SessionRepository,
    private readonly passes: PassTokens,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** Stores nothing if it throws. @throws ValidationFailed for an e-mail address as `endUser`, SessionThreadNotFound, SessionAgentNotFound */
  async execute(
    caller: ApiKeyPrincipal,
    { agentId, endUser, threadId: requested }: MintCommand,
  ): Promise<SessionCredentials & { readonly resumeToken: TimedToken }> {
    const { organizationId, keyId: apiKeyId } = caller;
    if (endUser !== undefined && looksLikeEmail(endUser)) {
      throw new ValidationFailed('body/endUser must be an id of the user that stays the same, never an e-mail address');
    }
    const continued =
      requested === undefined ? undefined : await this.requireThread(organizationId, agentId, requested);
    const userKey = await this.users.of(organizationId, endUser);
    const threadId = continued ?? (await this.open(organizationId, agentId));
    const createdAt = this.clock.now();
    const { resumeSeconds, resumeSecondsWithEndUser } = this.settings.sessions;
    const expiresAt = wholeSecondAfter(createdAt, endUser === undefined ? resumeSeconds : resumeSecondsWithEndUser);
    const ids = { id: newId(), organizationId, agentId, threadId, apiKeyId };
    const session: Session = { ...ids, userKey, createdAt, expiresAt };
    const token = newResumeToken();
    await this.sessions.add(organizationId, session, digestResumeToken(token));
    const pass = await this.passes.issue(session);
    if (!pass) throw new Error('A session ended while it was being minted');
    return { session, pass, resumeToken: timedToken(token, expiresAt, createdAt) };
  }

  private async open(organizationId: string, agentId: string): Promise<string> {
    try {
      return await this.conversations.open(organizationId, agentId);
    } catch (error) {
      // The agent has been deleted after the guard found it.
      if (error instanceof DomainError && error.kind === 'not_found') throw new SessionAgentNotFound();
      throw error;
    }
  }

  private async requireThread(organizationId: string, agentId: string, threadId: string): Promise<string> {
    const id = threadId.toLowerCase();
    if ((await this.conversations.agentOf(organizationId, id)) !== agentId) throw new SessionThreadNotFound();
    return id;
  }
}
