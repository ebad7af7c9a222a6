/** Written by hand because the ORM has no upsert that reports whether it changed a row, and no delete of a batch. */
import { statement } from '../../platform/database/index.js';

/** `forgottenBefore`: a key that was claimed before this may be claimed again. */
export const CLAIM_KEY = statement(
  {
    organizationId: 'uuid',
    operation: 'text',
    key: 'text',
    fingerprint: 'text',
    resourceId: 'uuid',
    createdAt: 'timestamptz',
    forgottenBefore: 'timestamptz',
  },
  (p) => `
  insert into idempotency_keys (organization_id, operation, key, fingerprint, resource_id, created_at)
  values (${p.organizationId}, ${p.operation}, ${p.key}, ${p.fingerprint}, ${p.resourceId}, ${p.createdAt})
  on conflict (organization_id, operation, key) do update
    set fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = excluded.created_at
    where idempotency_keys.created_at < ${p.forgottenBefore}
  returning resource_id`,
);

export const PURGE_KEYS = statement(
  { forgottenBefore: 'timestamptz', limit: 'integer' },
  (p) => `
  delete from idempotency_keys where (organization_id, operation, key) in (
    select organization_id, operation, key from idempotency_keys
    where created_at < ${p.forgottenBefore} limit ${p.limit}
  ) returning key`,
);
