import { Injectable } from '@nestjs/common';
import { inBatches, type SqlExecutor, toDate } from '../../platform/database/index.js';
import type { Section } from '../domain/section.js';
import type { SectionDifference } from '../domain/section-list.js';

/** Whose sections. */
export interface SectionsOwner {
  readonly organizationId: string;
  readonly agentId: string;
}

interface SectionRow {
  id: string;
  name: string;
  content: string;
  created_at: string;
  updated_at: string;
}

/** Bulk statements: what one write costs grows with the size of what is written, and not with the number of sections. */
@Injectable()
export class SectionRepository {
  /** In prompt order, numbered from 0. */
  async list(executor: SqlExecutor, { organizationId, agentId }: SectionsOwner): Promise<Section[]> {
    const rows = await executor.query<SectionRow>(
      `select id, name, content, created_at, updated_at from sections
       where organization_id = $1 and agent_id = $2
       order by position, created_at, id`,
      [organizationId, agentId],
    );
    return rows.map(toSection);
  }

  /** Stores the list `sections`, which differs from the stored one as `difference` says. */
  async store(
    executor: SqlExecutor,
    owner: SectionsOwner,
    sections: readonly Section[],
    difference: SectionDifference,
  ): Promise<void> {
    const { added, rewritten, removed, reordered } = difference;
    if (removed.length > 0) await this.remove(executor, owner, removed);
    for (const batch of inBatches(added, bytesOf)) await this.add(executor, owner, batch);
    for (const batch of inBatches(rewritten, bytesOf)) await this.rewrite(executor, owner, batch);
    if (reordered) await this.arrange(executor, owner, sections);
  }

  private async remove(executor: SqlExecutor, owner: SectionsOwner, sections: readonly Section[]): Promise<void> {
    await executor.query(
      'delete from sections where organization_id = $1 and agent_id = $2 and id = any($3::uuid[])',
      [owner.organizationId, owner.agentId, sections.map(({ id }) => id)],
    );
  }

  private async add(executor: SqlExecutor, owner: SectionsOwner, sections: readonly Section[]): Promise<void> {
    await executor.query(
      `insert into sections (id, organization_id, agent_id, name, content, position, created_at, updated_at)
       select id, $1, $2, name, content, position, created_at, updated_at
       from jsonb_to_recordset($3::jsonb)
         as added (id uuid, name text, content text, position int, created_at timestamptz, updated_at timestamptz)`,
      [owner.organizationId, owner.agentId, JSON.stringify(sections.map(toRow))],
    );
  }

  private async rewrite(executor: SqlExecutor, owner: SectionsOwner, sections: readonly Section[]): Promise<void> {
    await executor.query(
      `update sections s set name = new.name, content = new.content, updated_at = new.updated_at
       from jsonb_to_recordset($3::jsonb) as new (id uuid, name text, content text, updated_at timestamptz)
       where s.organization_id = $1 and s.agent_id = $2 and s.id = new.id`,
      [owner.organizationId, owner.agentId, JSON.stringify(sections.map(toRow))],
    );
  }

  /** The contents, which are the bulk of a row, are not sent again. */
  private async arrange(executor: SqlExecutor, owner: SectionsOwner, sections: readonly Section[]): Promise<void> {
    const places = sections.map(({ id, position, updatedAt }) => ({ id, position, updated_at: updatedAt }));
    await executor.query(
      `update sections s set position = new.position, updated_at = new.updated_at
       from jsonb_to_recordset($3::jsonb) as new (id uuid, position int, updated_at timestamptz)
       where s.organization_id = $1 and s.agent_id = $2 and s.id = new.id
         and (s.position, s.updated_at) is distinct from (new.position, new.updated_at)`,
      [owner.organizationId, owner.agentId, JSON.stringify(places)],
    );
  }
}

function bytesOf({ content }: Section): number {
  return Buffer.byteLength(content);
}

function toSection({ id, name, content, created_at, updated_at }: SectionRow, position: number): Section {
  return { id, name, content, position, createdAt: toDate(created_at), updatedAt: toDate(updated_at) };
}

function toRow({ createdAt, updatedAt, ...section }: Section): object {
  return { ...section, created_at: createdAt, updated_at: updatedAt };
}
