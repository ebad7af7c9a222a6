import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { ConversationsModule, UserColumns } from '../conversations/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { RemoveUsersWhenAgentDeleted } from './application/remove-users-when-agent-deleted.js';
import { MintSession } from './application/mint-session.js';
import { PassTokens } from './application/pass-tokens.js';
import { RenewSession } from './application/renew-session.js';
import { SessionAgentLookup } from './application/session-agent-lookup.js';
import { SigningKeys } from './application/signing-keys.js';
import { VerifyPass } from './application/verify-pass.js';
import { SessionsController } from './http/sessions.controller.js';
import { WidgetController } from './http/widget.controller.js';
import { PurgeSessions, purgeSessions } from './jobs/purge-sessions.job.js';
import { SessionRepository } from './persistence/session.repository.js';
import { SigningKeyRepository } from './persistence/signing-key.repository.js';

/** Web sessions: with short-lived passes, a browser talks to one agent in one conversation. */
@Module({
  imports: [AccessModule, AgentsModule, ConversationsModule, JobsModule.define(purgeSessions)],
  controllers: [SessionsController, WidgetController],
  providers: [
    ...[SessionRepository, SigningKeyRepository],
    ...[SigningKeys, PassTokens, VerifyPass],
    ...[MintSession, RenewSession, SessionAgentLookup],
    ...[RemoveUsersWhenAgentDeleted, PurgeSessions],
  ],
})
export class SessionsModule {
  constructor(users: UserColumns) {
    users.register({ table: 'sessions', column: 'user_key' });
  }
}
