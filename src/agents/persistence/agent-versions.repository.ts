import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import {
  Database,
  type EntityReader,
  inBatches,
  type SqlExecutor,
  storableJson,
  toDate,
  type Transaction,
} from '../../platform/database/index.js';
import { readStored, type Stored } from '../../platform/stored-json/index.js';
import type { AgentVersion } from '../domain/agent-version.js';
import {
  INSERT_PART,
  INSERT_VERSION,
  type PartRow,
  SELECT_PARTS_AT,
  SELECT_VERSIONS,
  type VersionRow,
} from './agent-versions.sql.js';
import { CHANGED_BY, CHANGES, StoredText } from './agents.schema.js';
import { digestsIn, LargeTexts, withTexts } from './large-texts.js';

interface AgentKey {
  readonly id: string;
  readonly organizationId: string;
}

export interface VersionPage {
  /** Only versions below this one. */
  readonly before: number | undefined;
  readonly limit: number;
  /** The most bytes that the changes of a page may have. A page has at least one version whatever its size. */
  readonly maxBytes: number;
}

export interface PartsAt {
  /** @returns null when the part did not exist at the version. @throws UnreadableJson */
  read<Schema extends z.ZodType>(part: string, schema: Schema): Stored<Schema> | null;
}

/** The versions of agents. A version stores snapshots only of the parts that it changed. */
@Injectable()
export class AgentVersionsRepository {
  constructor(private readonly database: Database) {}

  /** @param snapshots by part; parts that are left out keep the content of the version before */
  async add(
    transaction: Transaction,
    { id: agentId, organizationId }: AgentKey,
    { version, createdAt, changes, changedBy }: AgentVersion,
    snapshots: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const texts = new LargeTexts();
    const changesJson = storableJson(texts.extractFrom(changes));
    const parts = Object.entries(snapshots).map(([part, content]) => ({ part, content: texts.extractFrom(content) }));
    await storeTexts(transaction, { id: agentId, organizationId }, texts);
    const key = { organizationId, agentId, version };
    const changesBytes = Buffer.byteLength(changesJson) + texts.bytes;
    await INSERT_VERSION.run(transaction, { ...key, createdAt, changedBy, changes: changesJson, changesBytes });
    for (const { part, content } of parts) await INSERT_PART.run(transaction, { ...key, part, content });
  }

  /** Newest first. */
  async list(organizationId: string, agentId: string, page: VersionPage): Promise<AgentVersion[]> {
    const { before = null, limit, maxBytes } = page;
    const parameters = { organizationId, agentId, before, limit, maxBytes };
    const rows = await SELECT_VERSIONS.run<VersionRow>(this.database, parameters);
    const texts = await textsIn(this.database, { id: agentId, organizationId }, rows);
    return rows.map((row) => ({
      version: row.version,
      createdAt: toDate(row.created_at),
      changedBy: CHANGED_BY.read(row.changed_by, `${agentId} ${row.version}`),
      changes: CHANGES.read(withTexts(row.changes, texts), `${agentId} ${row.version}`),
    }));
  }

  /** @returns null when the agent has no such version */
  async partsAt(
    source: EntityReader & SqlExecutor,
    { id, organizationId }: AgentKey,
    version: number,
  ): Promise<PartsAt | null> {
    const rows = await SELECT_PARTS_AT.run<PartRow>(source, { organizationId, agentId: id, version });
    if (rows.length === 0) return null;
    const texts = await textsIn(source, { id, organizationId }, rows);
    const parts = new Map(rows.map(({ part, content }) => [part, withTexts(content, texts)]));
    return {
      read: (part, schema) => {
        const place = { column: 'agent_version_parts.content', row: `${id} ${version} ${part}` };
        return parts.has(part) ? readStored(schema, parts.get(part), place) : null;
      },
    };
  }
}

async function storeTexts(
  { em }: Transaction,
  { id: agentId, organizationId }: AgentKey,
  texts: LargeTexts,
): Promise<void> {
  for (const batch of inBatches(texts.all, ({ content }) => Buffer.byteLength(content))) {
    const rows = batch.map((text) => ({ organizationId, agentId, ...text }));
    await em.createQueryBuilder(StoredText).insert(rows).onConflict(['agentId', 'digest']).ignore().execute();
  }
}

/** The large texts that a value refers to, by digest. */
async function textsIn(
  source: EntityReader,
  { id: agentId, organizationId }: AgentKey,
  value: unknown,
): Promise<Map<string, string>> {
  const digest = { $in: [...digestsIn(value)] };
  if (digest.$in.length === 0) return new Map();
  const rows = await source.read((em) =>
    em.find(StoredText, { organizationId, agentId, digest }, { disableIdentityMap: true }),
  );
  return new Map(rows.map((row) => [row.digest, row.content]));
}
