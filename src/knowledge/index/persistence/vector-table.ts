import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../../platform/database/index.js';
import { CHECK_EXTENSION, CHECK_TABLE, CREATE_EXTENSION, CREATE_TABLE, LIMIT_LOCK_WAIT } from './vector-table.sql.js';

const LOCK = 'knowledge:vectors';

/** Creates the table of vectors, which needs an extension that not every database has. A row without a vector means that its text cannot have one. */
@Injectable()
export class VectorTable {
  constructor(private readonly database: Database) {}

  /** Creates the extension and the table unless they exist. @returns why vectors cannot be stored; undefined if they can */
  async create(): Promise<string | undefined> {
    const [table] = await CHECK_TABLE.run<{ exists: boolean }>(this.database, {});
    if (table?.exists === true) return undefined;
    return this.database.transaction(async (transaction) => {
      // Processes that start at the same time would both create the table.
      await transaction.lock(LOCK);
      await LIMIT_LOCK_WAIT.run(transaction, {});
      const obstacle = await this.createExtension(transaction);
      if (obstacle !== undefined) return obstacle;
      for (const statement of CREATE_TABLE) await statement.run(transaction, {});
      return undefined;
    });
  }

  private async createExtension(transaction: Transaction): Promise<string | undefined> {
    const [extension] = await CHECK_EXTENSION.run<{ installed: string | null; isCreatable: boolean }>(transaction, {});
    if (!extension) return 'the database server does not have the extension vector (pgvector)';
    if (extension.installed !== null) return undefined;
    // A role with this privilege still may not create an extension that is not trusted: then the statement below fails.
    if (!extension.isCreatable) return 'the database role may not create the extension vector';
    await CREATE_EXTENSION.run(transaction, {});
    return undefined;
  }
}
