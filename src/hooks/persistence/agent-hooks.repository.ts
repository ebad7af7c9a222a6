import { Injectable } from '@nestjs/common';
import { type EntityReader, jsonb, rowsOf, type Transaction } from '../../platform/database/index.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import type { SessionStartHook } from '../domain/session-start.js';
import { StoredAgentHooks, type StoredHeaders, tables } from './hooks.schema.js';

/** Whose hooks. */
export interface HooksOwner {
  readonly organizationId: string;
  readonly agentId: string;
}

/** What an agent has of hooks besides secrets. */
export interface HookSettings {
  readonly document: HooksDocument;
  /** Null where no handler has headers. */
  readonly headers: StoredHeaders | null;
  readonly sessionStart: SessionStartHook | null;
  /** When the signing secret was made; null while there is none. */
  readonly secretCreatedAt: Date | null;
}

export const NO_HOOKS: HookSettings = { document: {}, headers: null, sessionStart: null, secretCreatedAt: null };

/** Writes go past the entities that were read before them. */
const AS_STORED = { disableIdentityMap: true } as const;

/** Writers hold the agent (`AgentWrites`), so that there is one at a time. */
@Injectable()
export class AgentHooksRepository {
  /** @returns null where nothing was ever set */
  async find(source: EntityReader, { organizationId, agentId }: HooksOwner): Promise<HookSettings | null> {
    const row = await source.read((em) => em.findOne(StoredAgentHooks, { organizationId, agentId }, AS_STORED));
    if (!row) return null;
    const { document, headers, sessionStart, secretCreatedAt } = row;
    return { document, headers, sessionStart, secretCreatedAt };
  }

  /** Not by the ORM's `upsert`: its copy of a row takes the square of the number of objects in it. */
  async store(
    transaction: Transaction,
    { organizationId, agentId }: HooksOwner,
    settings: HookSettings,
  ): Promise<void> {
    const query = tables
      .insertInto('agent_hooks')
      .values({
        agent_id: agentId,
        organization_id: organizationId,
        document: jsonb(settings.document),
        headers: settings.headers && jsonb(settings.headers),
        session_start: settings.sessionStart && jsonb(settings.sessionStart),
        secret_created_at: settings.secretCreatedAt?.toISOString() ?? null,
      })
      .onConflict((conflict) =>
        conflict.column('agent_id').doUpdateSet((eb) => ({
          document: eb.ref('excluded.document'),
          headers: eb.ref('excluded.headers'),
          session_start: eb.ref('excluded.session_start'),
          secret_created_at: eb.ref('excluded.secret_created_at'),
        })),
      );
    await rowsOf(transaction, query);
  }
}
