import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import { type SessionStartHook, SessionStartHookNotFound } from '../domain/session-start.js';
import { AgentHooksRepository, type HooksOwner } from '../persistence/agent-hooks.repository.js';

@Injectable()
export class ReadHooks {
  constructor(
    private readonly database: Database,
    private readonly settings: AgentHooksRepository,
  ) {}

  /** Without the values of headers; `{}` when no hook is set. */
  async document(owner: HooksOwner): Promise<HooksDocument> {
    return (await this.settings.find(this.database, owner))?.document ?? {};
  }

  /** @throws SessionStartHookNotFound */
  async sessionStart(owner: HooksOwner): Promise<SessionStartHook> {
    const hook = (await this.settings.find(this.database, owner))?.sessionStart;
    if (!hook) throw new SessionStartHookNotFound();
    return hook;
  }
}
