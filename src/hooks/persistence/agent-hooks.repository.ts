import { Injectable } from '@nestjs/common';
import type { EntityReader, Transaction } from '../../platform/database/index.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { UPSERT_AGENT_HOOKS } from './agent-hooks.sql.js';
import { StoredAgentHooks, type StoredHeaders } from './hooks.schema.js';

export interface HooksOwner {
  readonly organizationId: string;
  readonly agentId: string;
}

/** The hooks of an agent without their secrets. */
export interface HookSettings {
  readonly document: HooksDocument;
  /** Null when no handler has headers. */
  readonly headers: StoredHeaders | null;
  readonly sessionStart: SessionStartHook | null;
  /** Null when the agent has no signing secret. */
  readonly secretCreatedAt: Date | null;
}

export const NO_HOOKS: HookSettings = { document: {}, headers: null, sessionStart: null, secretCreatedAt: null };

/** `store` bypasses the unit of work, whose copy of the row would be out of date after it. */
const AS_STORED = { disableIdentityMap: true } as const;

/** Writers hold the lock on the agent (`AgentWrites`), so two never write at once. */
@Injectable()
export class AgentHooksRepository {
  /** @returns null when no hook was ever set */
  async find(source: EntityReader, { organizationId, agentId }: HooksOwner): Promise<HookSettings | null> {
    const row = await source.read((em) => em.findOne(StoredAgentHooks, { organizationId, agentId }, AS_STORED));
    if (!row) return null;
    const { document, headers, sessionStart, secretCreatedAt } = row;
    return { document, headers, sessionStart, secretCreatedAt };
  }

  async store(transaction: Transaction, owner: HooksOwner, settings: HookSettings): Promise<void> {
    const { organizationId, agentId } = owner;
    await UPSERT_AGENT_HOOKS.run(transaction, { organizationId, agentId, ...settings });
  }
}
