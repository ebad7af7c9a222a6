/**
 * Hot path: every request looks up its API key, and the database prepares each statement once. Last uses of many keys are
 * written by one statement, which locks the rows in one order.
 */
import { type SqlExecutor, statement, toDate } from '../../platform/database/index.js';
import type { Capability } from '../domain/capability.js';

/** The part of a key that authentication needs. */
export interface StoredCredential {
  readonly keyId: string;
  readonly organizationId: string;
  readonly memberId: string;
  readonly capabilities: readonly Capability[];
  readonly agentIds: readonly string[] | null;
  readonly expiresAt: Date | null;
}

interface CredentialRow {
  readonly digest: Uint8Array;
  readonly id: string;
  readonly organization_id: string;
  readonly member_id: string;
  readonly capabilities: Capability[];
  readonly agent_ids: string[] | null;
  readonly expires_at: string | null;
}

const CREDENTIALS = statement(
  { digests: 'bytea[]' },
  (p) => `
  select digest, id, organization_id, member_id, capabilities, agent_ids, expires_at
  from api_keys where digest = any(${p.digests}) and revoked_at is null`,
);

const KEY_EXPIRY = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) =>
    `select expires_at from api_keys where organization_id = ${p.organizationId} and id = ${p.id} and revoked_at is null`,
);

const UPDATE_LAST_USES = statement(
  { ids: 'uuid[]', times: 'timestamptz[]', graceMs: 'double precision' },
  (p) => `
  update api_keys set last_used_at = used.at
  from (
    select api_keys.id, uses.at
    from unnest(${p.ids}, ${p.times}) as uses (id, at)
    join api_keys on api_keys.id = uses.id
    where last_used_at is null or last_used_at <= uses.at - ${p.graceMs} * interval '1 millisecond'
    order by api_keys.id
    for update of api_keys
  ) as used
  where api_keys.id = used.id`,
);

/** Keys that are not revoked; they may have expired. @returns those that exist, by digest in hex */
export async function selectCredentials(
  source: SqlExecutor,
  digests: readonly Buffer[],
): Promise<Map<string, StoredCredential>> {
  const rows = await CREDENTIALS.run<CredentialRow>(source, { digests });
  return new Map(rows.map((row) => [Buffer.from(row.digest).toString('hex'), toCredential(row)]));
}

/** Undefined when the key does not exist or is revoked. */
export async function selectKeyExpiry(
  source: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<Pick<StoredCredential, 'expiresAt'> | undefined> {
  const [row] = await KEY_EXPIRY.run<Pick<CredentialRow, 'expires_at'>>(source, { organizationId, id });
  return row && { expiresAt: row.expires_at === null ? null : toDate(row.expires_at) };
}

export async function updateLastUses(
  source: SqlExecutor,
  uses: ReadonlyMap<string, Date>,
  graceMs: number,
): Promise<void> {
  // Sorted, so that two processes lock rows in the same order and do not deadlock.
  const ids = [...uses.keys()].sort();
  const times = ids.flatMap((id) => uses.get(id)?.toISOString() ?? []);
  await UPDATE_LAST_USES.run(source, { ids, times, graceMs });
}

function toCredential(row: CredentialRow): StoredCredential {
  return {
    keyId: row.id,
    organizationId: row.organization_id,
    memberId: row.member_id,
    capabilities: row.capabilities,
    agentIds: row.agent_ids,
    expiresAt: row.expires_at === null ? null : toDate(row.expires_at),
  };
}
