/**
 * SQL because the ORM cannot say these: the facts of a session are on the path of its messages and planned once; the others count a
 * renewal in the row itself, or skip rows that another process has locked.
 */
import { statement } from '../../platform/database/index.js';

export interface SessionFactsRow {
  readonly api_key_id: string;
  readonly user_key: string | null;
}

export const FIND_SESSION_FACTS = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `select api_key_id, user_key from sessions where organization_id = ${p.organizationId} and id = ${p.id}`,
);

/** Of many renewals at the same time, exactly as many succeed as are left. */
export const COUNT_RENEWAL = statement(
  { organizationId: 'uuid', id: 'uuid', max: 'integer' },
  (p) => `update sessions set renewals = renewals + 1
  where organization_id = ${p.organizationId} and id = ${p.id} and renewals < ${p.max} returning 1`,
);

export const REMOVE_EXPIRED = statement(
  { expiredBefore: 'timestamptz', limit: 'integer' },
  (p) => `delete from sessions where id = any(array(
    select id from sessions where expires_at < ${p.expiredBefore} order by expires_at limit ${p.limit} for update skip locked
  )) returning 1`,
);

export const REMOVE_USERS_OF_DELETED_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', limit: 'integer' },
  (p) => `update sessions set user_key = null
  where id = any(array(
    select id from sessions where agent_id = ${p.agentId} and organization_id = ${p.organizationId} and user_key is not null
       and not exists (select 1 from agents where agents.id = ${p.agentId}) limit ${p.limit}))
  returning 1`,
);
