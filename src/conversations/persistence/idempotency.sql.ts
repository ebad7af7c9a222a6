/** A repeat of a request is recognized for this long. */
export const IDEMPOTENCY_HOURS = 24;

export interface IdempotencyParameters {
  /** Number of the parameter that holds each part. */
  readonly organization: string;
  readonly operation: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly resource: string;
  readonly at: string;
  /** The CTE that must have a row for the claim to be made. */
  readonly source: string;
}

/**
 * A CTE `claim` that has a row when the request is the first with its key. It is part of the statement
 * that does the work, so the claim and the work are kept together or not at all; a repeat at the same
 * moment waits for the first one's end at the unique index.
 */
export function claimCte(parameters: IdempotencyParameters): string {
  const { organization, operation, key, fingerprint, resource, at, source } = parameters;
  return `claim as (
    insert into idempotency_keys (organization_id, operation, key, fingerprint, resource_id, created_at)
    select ${organization}::uuid, ${operation}, ${key}, ${fingerprint}, ${resource}::uuid, ${at}::timestamptz
    from ${source} where ${key}::text is not null
    on conflict (organization_id, operation, key) do update
      set fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = excluded.created_at
      where idempotency_keys.created_at < excluded.created_at - interval '${IDEMPOTENCY_HOURS} hours'
    returning resource_id
  )`;
}
