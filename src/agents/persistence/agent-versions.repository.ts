import { Injectable } from '@nestjs/common';
import type { EntityManager, InferKyselyDB } from '@mikro-orm/sql';
import { type Kysely, sql } from 'kysely';
import type { z } from 'zod';
import {
  Database,
  type EntityReader,
  type ColumnsOf,
  inBatches,
  jsonb,
  queryBuilder,
  rowsOf,
  storableJson,
  type Transaction,
} from '../../platform/database/index.js';
import { readStored, type Stored } from '../../platform/stored-json/index.js';
import type { AgentVersion } from '../domain/agent-version.js';
import { CHANGED_BY, CHANGES, StoredPart, StoredText, StoredVersion } from './agents.schema.js';
import { digestsIn, type LargeText, LargeTexts, putBack } from './large-texts.js';

interface Owner {
  readonly id: string;
  readonly organizationId: string;
}

type Tables = InferKyselyDB<typeof StoredVersion | typeof StoredPart>;

const builder = queryBuilder<{
  agent_versions: ColumnsOf<typeof StoredVersion>;
  agent_version_parts: ColumnsOf<typeof StoredPart>;
}>();

/** The parts of an agent at a version. */
export interface PartsAt {
  /** @returns null when the part did not exist at the version. @throws UnreadableJson */
  read<Schema extends z.ZodType>(part: string, schema: Schema): Stored<Schema> | null;
}

/** The versions of agents, and of each part of an agent the snapshots of the versions that changed it. */
@Injectable()
export class AgentVersionsRepository {
  constructor(private readonly database: Database) {}

  /** @param snapshots by part; a part that is not there stays what the version before has */
  async add(
    transaction: Transaction,
    { id: agentId, organizationId }: Owner,
    { changes, changedBy, ...version }: AgentVersion,
    snapshots: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const texts = new LargeTexts();
    const told = texts.takenOut(changes);
    const toldJson = storableJson(told);
    const parts = Object.entries(snapshots).map(([part, content]) => ({ part, content: texts.takenOut(content) }));
    const of = { organizationId, agentId };
    for (const batch of inBatches(texts.all, ({ content }) => Buffer.byteLength(content))) {
      const rows = batch.map((text) => ({ ...of, ...text }));
      await transaction.em
        .createQueryBuilder(StoredText)
        .insert(rows)
        .onConflict(['agentId', 'digest'])
        .ignore()
        .execute();
    }
    // As texts: the ORM looks through every value in a row several times, and there may be hundreds of thousands.
    const row = { organization_id: organizationId, agent_id: agentId, version: version.version };
    const stored = builder.insertInto('agent_versions').values({
      ...row,
      created_at: version.createdAt.toISOString(),
      changed_by: jsonb(changedBy),
      changes: sql`${toldJson}::jsonb`,
      changes_bytes: Buffer.byteLength(toldJson) + texts.bytes,
    });
    await rowsOf(transaction, stored);
    for (const { part, content } of parts) {
      await rowsOf(
        transaction,
        builder.insertInto('agent_version_parts').values({ ...row, part, content: jsonb(content) }),
      );
    }
  }

  /**
   * Newest first: the versions before `page.before`, as many as fit, and at least one where there is one.
   * @param page.most the most versions
   * @param page.mostBytes the most that their changes may come to
   */
  async list(
    organizationId: string,
    agentId: string,
    page: { readonly before: number | undefined; readonly most: number; readonly mostBytes: number },
  ): Promise<AgentVersion[]> {
    const rows = await this.database.read((em) =>
      tables(em)
        .selectFrom((from) =>
          from
            .selectFrom('agent_versions')
            .select(['version', 'created_at', 'changed_by', 'changes', 'changes_bytes'])
            .select(({ fn }) =>
              fn
                .sum<number>('changes_bytes')
                .over((over) => over.orderBy('version', 'desc'))
                .as('bytes'),
            )
            .where('organization_id', '=', organizationId)
            .where('agent_id', '=', agentId)
            .$if(page.before !== undefined, (query) => query.where('version', '<', page.before ?? 0))
            .orderBy('version', 'desc')
            .limit(page.most)
            .as('page'),
        )
        .select(['version', 'created_at', 'changed_by', 'changes'])
        .where((is) => is.or([is('bytes', '<=', page.mostBytes), is('bytes', '=', is.ref('changes_bytes'))]))
        .orderBy('version', 'desc')
        .execute(),
    );
    const texts = await this.textsIn(this.database, { id: agentId, organizationId }, rows);
    return rows.map((row) => ({
      version: row.version,
      createdAt: new Date(row.created_at),
      changedBy: CHANGED_BY.read(row.changed_by, `${agentId} ${row.version}`),
      changes: CHANGES.read(putBack(row.changes, texts), `${agentId} ${row.version}`),
    }));
  }

  /** @returns the parts of the agent at a version; null when the agent has no such version */
  async partsAt(source: EntityReader, { id, organizationId }: Owner, version: number): Promise<PartsAt | null> {
    const rows = await source.read((em) =>
      tables(em)
        .selectFrom('agent_versions as v')
        .leftJoinLateral(
          (from) =>
            from
              .selectFrom('agent_version_parts as p')
              .distinctOn('p.part')
              .select(['p.part', 'p.content'])
              .whereRef('p.agent_id', '=', 'v.agent_id')
              .whereRef('p.organization_id', '=', 'v.organization_id')
              .whereRef('p.version', '<=', 'v.version')
              .orderBy('p.part')
              .orderBy('p.version', 'desc')
              .as('held'),
          (join) => join.onTrue(),
        )
        .select(['held.part', 'held.content'])
        .where('v.organization_id', '=', organizationId)
        .where('v.agent_id', '=', id)
        .where('v.version', '=', version)
        .execute(),
    );
    if (rows.length === 0) return null;
    const texts = await this.textsIn(source, { id, organizationId }, rows);
    const parts = new Map(rows.map(({ part, content }) => [part, putBack(content, texts)]));
    return {
      read: (part, schema) => {
        const place = { column: 'agent_version_parts.content', row: `${id} ${version} ${part}` };
        return parts.has(part) ? readStored(schema, parts.get(part), place) : null;
      },
    };
  }

  private async textsIn(
    source: EntityReader,
    { id: agentId, organizationId }: Owner,
    value: unknown,
  ): Promise<Map<string, string>> {
    const digest = { $in: [...digestsIn(value)] };
    if (digest.$in.length === 0) return new Map();
    const rows = await source.read((em) =>
      em.find(StoredText, { organizationId, agentId, digest }, { disableIdentityMap: true }),
    );
    return new Map(rows.map((row): [LargeText['digest'], string] => [row.digest, row.content]));
  }
}

/** For reads that no entity fits. */
function tables(em: EntityManager): Kysely<Tables> {
  return em.getKysely<Tables>();
}
