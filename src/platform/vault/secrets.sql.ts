/*
 * The secrets of an agent are read on the path of every message, any number of them by one prepared statement. The ORM cannot
 * express the update of a rotation: many rows, each only if it is unchanged.
 */
import { type SqlExecutor, statement } from '../database/index.js';
import type { SealedSecret, SecretRef } from './sealed-secret.js';

export type SecretRow = SecretRef & SealedSecret;

export interface Resealed {
  readonly was: SecretRow;
  readonly sealed: SealedSecret;
}

interface SealedRow {
  readonly position: number;
  readonly ciphertext: Uint8Array;
  readonly nonce: Uint8Array;
  readonly wrapped_key: Uint8Array;
  readonly key_id: string;
}

const SECRETS = statement(
  { asked: 'jsonb' },
  (p) => `select asked.position, s.ciphertext, s.nonce, s.wrapped_key, s.key_id
  from jsonb_to_recordset(${p.asked}) as asked (position int, organization_id uuid, record_id uuid, field text)
  join secrets s using (organization_id, record_id, field)`,
);

const RESEAL = statement(
  { changes: 'jsonb' },
  (p) => `update secrets s set ciphertext = decode(n.ciphertext, 'base64'), nonce = decode(n.nonce, 'base64'),
    wrapped_key = decode(n.wrapped_key, 'base64'), key_id = n.key_id
  from jsonb_to_recordset(${p.changes}) as n (organization_id uuid, record_id uuid, field text,
    was text, ciphertext text, nonce text, wrapped_key text, key_id text)
  where (s.organization_id, s.record_id, s.field) = (n.organization_id, n.record_id, n.field)
    and s.wrapped_key = decode(n.was, 'base64')
  returning 1 as updated`,
);

/** @returns the stored secrets by the position of their references */
export async function selectSecrets(
  source: SqlExecutor,
  refs: readonly SecretRef[],
): Promise<Map<number, SealedSecret>> {
  const asked = refs.map((ref, position) => ({ position, ...columnsOf(ref) }));
  const rows = await SECRETS.run<SealedRow>(source, { asked });
  return new Map(rows.map((row) => [row.position, sealedOf(row)]));
}

/**
 * Replaces secrets that are unchanged. The wrapped key serves as a version, because every write makes another one.
 * @returns how many were replaced
 */
export async function reseal(source: SqlExecutor, changes: readonly Resealed[]): Promise<number> {
  return (await RESEAL.run(source, { changes: changes.map(change) })).length;
}

function change({ was, sealed }: Resealed): object {
  return {
    ...columnsOf(was),
    was: was.wrappedKey.toString('base64'),
    ciphertext: sealed.ciphertext.toString('base64'),
    nonce: sealed.nonce.toString('base64'),
    wrapped_key: sealed.wrappedKey.toString('base64'),
    key_id: sealed.keyId,
  };
}

function columnsOf({ organizationId, recordId, field }: SecretRef): object {
  return { organization_id: organizationId, record_id: recordId, field };
}

function sealedOf({ ciphertext, nonce, wrapped_key: wrappedKey, key_id: keyId }: SealedRow): SealedSecret {
  return { ciphertext: Buffer.from(ciphertext), nonce: Buffer.from(nonce), wrappedKey: Buffer.from(wrappedKey), keyId };
}
