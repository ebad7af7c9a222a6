/*
 * On the path of every message: its key is looked up here, and its use noted. Written by hand, because the server
 * prepares such a statement once, and because the uses of many keys are noted by one.
 */
import { type SqlExecutor, statement, toDate } from '../../platform/database/index.js';
import type { Capability } from '../domain/capability.js';

/** What authentication needs of a key. */
export interface StoredCredential {
  readonly keyId: string;
  readonly organizationId: string;
  readonly memberId: string;
  readonly capabilities: readonly Capability[];
  readonly agentIds: readonly string[] | null;
  readonly expiresAt: Date | null;
}

interface CredentialRow {
  readonly id: string;
  readonly organization_id: string;
  readonly member_id: string;
  readonly capabilities: Capability[];
  readonly agent_ids: string[] | null;
  readonly expires_at: string | null;
}

const CREDENTIAL = statement(
  { digest: 'bytea' },
  (p) => `
  select id, organization_id, member_id, capabilities, agent_ids, expires_at
  from api_keys where digest = ${p.digest} and revoked_at is null`,
);

const CREDENTIALS = statement(
  { digests: 'bytea[]' },
  (p) => `
  select digest, id, organization_id, member_id, capabilities, agent_ids, expires_at
  from api_keys where digest = any(${p.digests}) and revoked_at is null`,
);

const KEY_STATE = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `
  select expires_at from api_keys where organization_id = ${p.organizationId} and id = ${p.id} and revoked_at is null`,
);

const NOTE_USES = statement(
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

/** The key that has this digest and is not revoked; it may have expired. */
export async function selectCredential(source: SqlExecutor, digest: Buffer): Promise<StoredCredential | undefined> {
  const [row] = await CREDENTIAL.run<CredentialRow>(source, { digest });
  return row && toCredential(row);
}

/** As `selectCredential`, for many keys. @returns the keys that exist, by digest in hex */
export async function selectCredentials(
  source: SqlExecutor,
  digests: readonly Buffer[],
): Promise<Map<string, StoredCredential>> {
  const rows = await CREDENTIALS.run<CredentialRow & { readonly digest: Uint8Array }>(source, { digests });
  return new Map(rows.map((row) => [Buffer.from(row.digest).toString('hex'), toCredential(row)]));
}

/** What a key that is not revoked allows those who act by it. */
export interface StoredKeyState {
  readonly expiresAt: Date | null;
}

/** Undefined when there is no such key or it is revoked. */
export async function selectKeyState(
  source: SqlExecutor,
  organizationId: string,
  id: string,
): Promise<StoredKeyState | undefined> {
  const [row] = await KEY_STATE.run<Pick<CredentialRow, 'expires_at'>>(source, { organizationId, id });
  return row && { expiresAt: row.expires_at === null ? null : toDate(row.expires_at) };
}

/**
 * Stores when keys were last used, where what is stored is at least `graceMs` older.
 * @param uses time of the last use by key id
 */
export async function updateLastUses(
  source: SqlExecutor,
  uses: ReadonlyMap<string, Date>,
  graceMs: number,
): Promise<void> {
  // In one order everywhere, so that two processes never wait for each other's rows.
  const ids = [...uses.keys()].sort();
  const times = ids.flatMap((id) => uses.get(id)?.toISOString() ?? []);
  await NOTE_USES.run(source, { ids, times, graceMs });
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
