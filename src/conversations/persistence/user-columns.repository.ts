import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { UserColumn } from '../domain/user-column.js';
import { isBareUser } from '../domain/user-key.js';

/** A user as earlier releases stored it. */
export interface BareUser {
  readonly organizationId: string;
  readonly bare: string;
}

/** Shared by all processes: without it two that re-key the same rows could deadlock. */
const LOCK = 'conversations.rekey-users';

/** Columns with keys of users, of all organizations, for maintenance. Every query uses a partial index of bare keys, which is empty once all are re-keyed. */
@Injectable()
export class UserColumnsRepository {
  constructor(private readonly database: Database) {}

  /** The users of up to `rows` rows with a bare key. @param except organizations to leave out */
  bareUsers({ table, column }: UserColumn, except: readonly string[], rows: number): Promise<BareUser[]> {
    return this.database.query<BareUser>(
      `select distinct organization_id::text as "organizationId", bare::text as bare from (
         select organization_id, ${column} as bare from ${table}
         where ${isBareUser(column)} and organization_id <> all($1::uuid[]) limit $2::integer) bare_users`,
      [except, rows],
    );
  }

  /**
   * Replaces bare users by keyed ones, in up to `rows` rows, in one transaction. A bare row is deleted when its unique key
   * already exists with the keyed user, which a process of this release may have written.
   */
  async rekey(
    { table, column, uniqueWith }: UserColumn,
    users: readonly (BareUser & { readonly keyed: string })[],
    rows: number,
  ): Promise<void> {
    const mapping = `jsonb_to_recordset($1::jsonb) as users ("organizationId" uuid, bare uuid, keyed uuid)`;
    const isOfUser = `${table}.organization_id = users."organizationId" and ${table}.${column} = users.bare`;
    await this.database.transaction(async (transaction) => {
      await transaction.lock(LOCK);
      if (uniqueWith) {
        const isSame = uniqueWith.map((other) => `same.${other} = ${table}.${other}`).join(' and ');
        await transaction.query(
          `delete from ${table} using ${mapping} where ${isBareUser(`${table}.${column}`)} and ${isOfUser}
             and exists (select 1 from ${table} same where ${isSame} and same.${column} = users.keyed)`,
          [JSON.stringify(users)],
        );
      }
      await transaction.query(
        `update ${table} set ${column} = users.keyed from ${mapping}
         where ${isOfUser} and ${table}.ctid = any(array(
           select ctid from ${table} where ${isBareUser(column)}
             and (organization_id, ${column}) in (select "organizationId", bare from ${mapping}) limit $2::integer for update))`,
        [JSON.stringify(users), rows],
      );
    });
  }
}
