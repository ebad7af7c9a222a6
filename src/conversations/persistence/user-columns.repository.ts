import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { UserColumn } from '../domain/user-column.js';
import { bareUsers, deleteBareDuplicates, rekeyUsers } from './user-columns.sql.js';

/** A user as earlier releases stored it. */
export interface BareUser {
  readonly organizationId: string;
  readonly bare: string;
}

/** Shared by all processes: without it two that re-key the same rows could deadlock. */
const LOCK = 'conversations.rekey-users';

/** Columns with keys of users, of all organizations. */
@Injectable()
export class UserColumnsRepository {
  constructor(private readonly database: Database) {}

  /** The users of up to `limit` rows with a bare key. @param except organizations to leave out */
  bareUsers(column: UserColumn, except: readonly string[], limit: number): Promise<BareUser[]> {
    return bareUsers(column).run<BareUser>(this.database, { except, limit });
  }

  /** Replaces bare users by keyed ones in up to `limit` rows, in one transaction. */
  async rekey(
    column: UserColumn,
    users: readonly (BareUser & { readonly keyed: string })[],
    limit: number,
  ): Promise<void> {
    await this.database.transaction(async (transaction) => {
      await transaction.lock(LOCK);
      if (column.uniqueWith) await deleteBareDuplicates(column, column.uniqueWith).run(transaction, { users });
      await rekeyUsers(column).run(transaction, { users, limit });
    });
  }
}
