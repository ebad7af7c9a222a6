import { Injectable } from '@nestjs/common';
import type { EntityReader, Transaction } from '../../platform/database/index.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { StoredAgentHooks } from './hooks.schema.js';

/** Whose hooks. */
export interface HooksOwner {
  readonly organizationId: string;
  readonly agentId: string;
}

/** What an agent has of hooks besides secrets. */
export interface HookSettings {
  readonly document: HooksDocument;
  readonly sessionStart: SessionStartHook | null;
  /** When the signing secret was made; null while there is none. */
  readonly secretCreatedAt: Date | null;
}

export const NO_HOOKS: HookSettings = { document: {}, sessionStart: null, secretCreatedAt: null };

/** A write of the same transaction goes past the entities that were read before it. */
const AS_STORED = { disableIdentityMap: true } as const;

/** Writers hold the agent (`AgentWrites`), so that there is one at a time. */
@Injectable()
export class AgentHooksRepository {
  /** @returns null where nothing was ever set */
  async find(source: EntityReader, { organizationId, agentId }: HooksOwner): Promise<HookSettings | null> {
    const row = await source.read((em) => em.findOne(StoredAgentHooks, { organizationId, agentId }, AS_STORED));
    return row && { document: row.document, sessionStart: row.sessionStart, secretCreatedAt: row.secretCreatedAt };
  }

  async store({ em }: Transaction, { organizationId, agentId }: HooksOwner, settings: HookSettings): Promise<void> {
    const row = { agentId, organizationId, ...settings };
    // Not `upsert`, which copies the row, and takes the square of the objects in a document for it.
    await em.createQueryBuilder(StoredAgentHooks).insert(row).onConflict('agentId').merge().execute();
  }
}
