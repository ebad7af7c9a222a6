import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../../../src/platform/database/index.js';
import { newId } from '../../../../../src/platform/ids/index.js';
import { summaryOf, type Term } from '../domain/term.js';
import { StoredTerm } from './glossary.schema.js';

@Injectable()
export class TermRepository {
  constructor(private readonly database: Database) {}

  async list(organizationId: string): Promise<Term[]> {
    const rows = await this.database.read((em) =>
      em.find(StoredTerm, { organizationId }, { orderBy: { name: 'asc' } }),
    );
    return rows.map(({ id, name, definition, summary = null }) => ({ id, organizationId, name, definition, summary }));
  }

  /** @returns the id of the term, which stays the same when its definition changes */
  async define({ em }: Transaction, organizationId: string, name: string, definition: string): Promise<string> {
    const term = { id: newId(), organizationId, name, definition, summary: null };
    const stored = await em.upsert(StoredTerm, term, {
      onConflictFields: ['organizationId', 'name'],
      onConflictExcludeFields: ['id'],
    });
    return stored.id;
  }

  /** Does nothing where the term is gone, and nothing new where it was done before. */
  async summarize({ em }: Transaction, organizationId: string, id: string): Promise<void> {
    const term = await em.findOne(StoredTerm, { organizationId, id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (term) term.summary = summaryOf(term.definition);
  }
}
