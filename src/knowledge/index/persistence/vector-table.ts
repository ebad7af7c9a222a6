import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { BEFORE_TABLE, EXTENSION, IS_TABLE_THERE, VECTOR_TABLE } from './vectors.sql.js';

/** Processes that start at once make the table one after the other. */
const LOCK = 'knowledge:vectors';

/** Where vectors are kept: a table that not every database can have. A row without a vector is of a text that cannot have one. */
@Injectable()
export class VectorTable {
  constructor(private readonly database: Database) {}

  /**
   * Makes what is not there yet.
   * @returns why there can be no vectors; undefined when there can
   * @throws what went wrong with the database otherwise
   */
  async make(): Promise<string | undefined> {
    const [table] = await this.database.query<{ there: boolean }>(IS_TABLE_THERE);
    if (table?.there === true) return undefined;
    return this.database.transaction(async (transaction) => {
      await transaction.lock(LOCK);
      await transaction.query(BEFORE_TABLE);
      const missing = await this.makeExtension(transaction);
      if (missing !== undefined) return missing;
      for (const statement of VECTOR_TABLE) await transaction.query(statement);
      return undefined;
    });
  }

  private async makeExtension(transaction: Transaction): Promise<string | undefined> {
    const [known] = await transaction.query<{ installed: string | null; creatable: boolean }>(EXTENSION);
    if (!known) return 'the database server does not have the extension vector (pgvector)';
    if (known.installed !== null) return undefined;
    // The privilege is not enough where the extension is not trusted: that is told by the statement alone.
    if (!known.creatable) return 'the database role may not create the extension vector';
    await transaction.query('create extension if not exists vector');
    return undefined;
  }
}
