import { Injectable } from '@nestjs/common';
import {
  Database,
  inBatches,
  type SqlExecutor,
  storableJson,
  toDate,
  type Transaction,
} from '../../platform/database/index.js';
import type { AgentVersion, ChangedBy } from '../domain/agent-version.js';
import type { FieldChange } from '../domain/field-change.js';
import { digestsIn, type LargeText, LargeTexts, putBack } from './large-texts.js';

interface Owner {
  readonly id: string;
  readonly organizationId: string;
}

interface VersionRow {
  version: number;
  created_at: string;
  changed_by: ChangedBy;
  changes: FieldChange[];
}

interface PartRow {
  part: string | null;
  content: unknown;
}

/** The versions of agents, and of each part of an agent the snapshots of the versions that changed it. */
@Injectable()
export class AgentVersionsRepository {
  constructor(private readonly database: Database) {}

  /** @param snapshots by part; a part that is not there stays what the version before has */
  async add(
    transaction: Transaction,
    { id, organizationId }: Owner,
    { version, createdAt, changedBy, changes }: AgentVersion,
    snapshots: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const texts = new LargeTexts();
    const told = storableJson(texts.takenOut(changes));
    const changesBytes = Buffer.byteLength(told) + texts.bytes;
    const parts = storableJson(texts.takenOut(Object.entries(snapshots).map(([part, content]) => ({ part, content }))));
    await this.keepTexts(transaction, { id, organizationId }, texts.all);
    await transaction.query(
      `with recorded as (
         insert into agent_versions (organization_id, agent_id, version, created_at, changed_by, changes, changes_bytes)
         values ($1::uuid, $2::uuid, $3::int, $4::timestamptz, $5::jsonb, $6::jsonb, $7::int))
       insert into agent_version_parts (organization_id, agent_id, version, part, content)
       select $1::uuid, $2::uuid, $3::int, part, content from jsonb_to_recordset($8::jsonb) as changed (part text, content jsonb)`,
      [
        organizationId,
        id,
        version,
        createdAt.toISOString(),
        storableJson(changedBy),
        told,
        changesBytes,
        parts,
      ],
    );
  }

  private async keepTexts(
    transaction: Transaction,
    { id, organizationId }: Owner,
    texts: readonly LargeText[],
  ): Promise<void> {
    for (const batch of inBatches(texts, ({ content }) => Buffer.byteLength(content))) {
      await transaction.query(
        `insert into agent_version_texts (organization_id, agent_id, digest, content)
         select $1::uuid, $2::uuid, digest, content from unnest($3::text[], $4::text[]) as kept (digest, content)
         on conflict (agent_id, digest) do nothing`,
        [organizationId, id, batch.map(({ digest }) => digest), batch.map(({ content }) => content)],
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
    const rows = await this.database.query<VersionRow>(
      `select version, created_at, changed_by, changes from (
         select newest.*,
           sum(changes_bytes) over (order by version desc) as bytes, row_number() over (order by version desc) as nth
         from (
           select version, created_at, changed_by, changes, changes_bytes from agent_versions
           where organization_id = $1 and agent_id = $2 and ($3::int is null or version < $3)
           order by version desc limit $4) newest) page
       where bytes <= $5 or nth = 1
       order by version desc`,
      [organizationId, agentId, page.before ?? null, page.most, page.mostBytes],
    );
    const texts = await this.textsIn(this.database, { id: agentId, organizationId }, rows);
    return rows.map((row) => ({
      version: row.version,
      createdAt: toDate(row.created_at),
      changedBy: row.changed_by,
      changes: putBack(row.changes, texts) as FieldChange[],
    }));
  }

  /** What every part was at a version, by part; null when the agent has no such version. */
  async partsAt(
    source: SqlExecutor,
    { id, organizationId }: Owner,
    version: number,
  ): Promise<ReadonlyMap<string, unknown> | null> {
    const rows = await source.query<PartRow>(
      `select held.part, held.content from agent_versions v
       left join lateral (
         select distinct on (p.part) p.part, p.content from agent_version_parts p
         where p.agent_id = v.agent_id and p.organization_id = v.organization_id and p.version <= v.version
         order by p.part, p.version desc) held on true
       where v.organization_id = $1 and v.agent_id = $2 and v.version = $3`,
      [organizationId, id, version],
    );
    if (rows.length === 0) return null;
    const texts = await this.textsIn(source, { id, organizationId }, rows);
    return new Map(rows.flatMap(({ part, content }) => (part === null ? [] : [[part, putBack(content, texts)] as const])));
  }

  private async textsIn(source: SqlExecutor, { id, organizationId }: Owner, value: unknown): Promise<Map<string, string>> {
    const digests = digestsIn(value);
    if (digests.size === 0) return new Map();
    const rows = await source.query<LargeText>(
      `select digest, content from agent_version_texts
       where organization_id = $1 and agent_id = $2 and digest = any($3::text[])`,
      [organizationId, id, [...digests]],
    );
    return new Map(rows.map(({ digest, content }) => [digest, content]));
  }
}
