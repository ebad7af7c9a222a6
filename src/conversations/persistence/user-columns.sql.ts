/** SQL because other contexts map the tables, and each statement needs the partial index of bare keys. */
import { statement } from '../../platform/database/index.js';
import { isBareUser, type UserColumn } from '../domain/user-key.js';

const USERS = 'users ("organizationId" uuid, bare uuid, keyed uuid)';

export const bareUsersIn = ({ table, column }: UserColumn) =>
  statement(
    { except: 'uuid[]', limit: 'integer' },
    (p) => `
  select distinct organization_id::text as "organizationId", bare::text as bare from (
    select organization_id, ${column} as bare from ${table}
    where ${isBareUser(column)} and organization_id <> all(${p.except}) limit ${p.limit}) bare_users`,
  );

/** A process of this release may have written a row with the keyed user already. */
export const deleteBareDuplicates = ({ table, column }: UserColumn, uniqueWith: readonly string[]) =>
  statement(
    { users: 'jsonb' },
    (p) => `
  delete from ${table} using jsonb_to_recordset(${p.users}) as ${USERS}
  where ${isBareUser(`${table}.${column}`)} and ${isOfUser(table, column)} and exists (
    select 1 from ${table} same
    where ${uniqueWith.map((other) => `same.${other} = ${table}.${other}`).join(' and ')} and same.${column} = users.keyed)`,
  );

export const rekeyRows = ({ table, column }: UserColumn) =>
  statement(
    { users: 'jsonb', limit: 'integer' },
    (p) => `
  update ${table} set ${column} = users.keyed from jsonb_to_recordset(${p.users}) as ${USERS}
  where ${isOfUser(table, column)} and ${table}.ctid = any(array(
    select ctid from ${table} where ${isBareUser(column)}
      and (organization_id, ${column}) in (select "organizationId", bare from jsonb_to_recordset(${p.users}) as ${USERS})
    limit ${p.limit} for update))`,
  );

function isOfUser(table: string, column: string): string {
  return `${table}.organization_id = users."organizationId" and ${table}.${column} = users.bare`;
}
