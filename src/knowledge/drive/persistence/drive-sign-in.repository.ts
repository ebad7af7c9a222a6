import { Injectable } from '@nestjs/common';
import { Database, statement, toDate, type Transaction } from '../../../platform/database/index.js';
import { type SecretRef, Vault } from '../../../platform/vault/index.js';
import { FILE_IDS } from './drive.schema.js';

/** A sign-in that somebody has begun; its verifier is in the vault. */
export interface DriveSignIn {
  /** Of the state that only the browser has. */
  readonly stateDigest: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly fileIds: readonly string[];
  readonly redirectUrl: string;
  /** Where the drive sends the browser, as it was told. */
  readonly redirectUri: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface TakenDriveSignIn extends Omit<DriveSignIn, 'createdAt'> {
  readonly codeVerifier: string;
}

const insert = statement(
  {
    ...{ stateDigest: 'text', organizationId: 'uuid', agentId: 'uuid', fileIds: 'jsonb', redirectUrl: 'text', redirectUri: 'text' },
    ...{ createdAt: 'timestamptz', expiresAt: 'timestamptz' },
  } as const,
  (p) => `insert into drive_sign_ins (state_digest, organization_id, agent_id, file_ids, redirect_url, redirect_uri, created_at, expires_at)
    values (${p.stateDigest}, ${p.organizationId}, ${p.agentId}, ${p.fileIds}, ${p.redirectUrl}, ${p.redirectUri}, ${p.createdAt}, ${p.expiresAt})`,
);

const PLACE = 'state_digest as "stateDigest", organization_id::text as "organizationId", agent_id::text as "agentId"';

const removeOldest = statement(
  { organizationId: 'uuid', agentId: 'uuid', kept: 'integer' },
  (p) => `delete from drive_sign_ins where state_digest in (
      select state_digest from drive_sign_ins where organization_id = ${p.organizationId} and agent_id = ${p.agentId}
      order by created_at desc, state_digest desc offset ${p.kept})
    returning ${PLACE}`,
);

const take = statement(
  { stateDigest: 'text' },
  (p) => `delete from drive_sign_ins where state_digest = ${p.stateDigest}
    returning ${PLACE}, file_ids::text as "fileIds", redirect_url as "redirectUrl", redirect_uri as "redirectUri", expires_at as "expiresAt"`,
);

const isOpen = statement(
  { stateDigest: 'text', now: 'timestamptz' },
  (p) => `select 1 from drive_sign_ins where state_digest = ${p.stateDigest} and expires_at > ${p.now}`,
);

const removeExpired = statement(
  { now: 'timestamptz', limit: 'integer' },
  (p) => `delete from drive_sign_ins where state_digest in (
      select state_digest from drive_sign_ins
       where expires_at <= ${p.now} or not exists (select 1 from agents where id = drive_sign_ins.agent_id) limit ${p.limit})
    returning ${PLACE}`,
);

type Place = Pick<DriveSignIn, 'stateDigest' | 'organizationId' | 'agentId'>;
type TakenRow = Place & Pick<DriveSignIn, 'redirectUrl' | 'redirectUri'> & { readonly fileIds: string; readonly expiresAt: string };

@Injectable()
export class DriveSignInRepository {
  constructor(
    private readonly vault: Vault,
    private readonly database: Database,
  ) {}

  /** @param open how many of the agent there may be; the oldest make room */
  async add(transaction: Transaction, signIn: DriveSignIn, codeVerifier: string, open: number): Promise<void> {
    const { organizationId, agentId } = signIn;
    await this.forget(transaction, await removeOldest.run<Place>(transaction, { organizationId, agentId, kept: open - 1 }));
    await insert.run(transaction, signIn);
    await this.vault.put(transaction, verifierOf(signIn), codeVerifier);
  }

  /** Those of an agent that nobody has ended yet. */
  async removeOpen(transaction: Transaction, organizationId: string, agentId: string): Promise<void> {
    await this.forget(transaction, await removeOldest.run<Place>(transaction, { organizationId, agentId, kept: 0 }));
  }

  /** Of any organization: the digest is the credential. */
  async isOpen(stateDigest: string, now: Date): Promise<boolean> {
    return (await isOpen.run(this.database, { stateDigest, now })).length > 0;
  }

  /** Of any organization: the digest is the credential. Whoever takes it is the only one. */
  async take(transaction: Transaction, stateDigest: string): Promise<TakenDriveSignIn | null> {
    const [row] = await take.run<TakenRow>(transaction, { stateDigest });
    if (!row) return null;
    const [codeVerifier] = await this.vault.readMany([verifierOf(row)], transaction);
    await this.forget(transaction, [row]);
    if (codeVerifier === undefined) return null;
    return { ...row, codeVerifier, fileIds: FILE_IDS.readText(row.fileIds), expiresAt: toDate(row.expiresAt) };
  }

  /** Of any organization, and those of agents that are gone. @returns how many */
  async removeExpired(transaction: Transaction, now: Date, limit: number): Promise<number> {
    const expired = await removeExpired.run<Place>(transaction, { now, limit });
    await this.forget(transaction, expired);
    return expired.length;
  }

  private async forget(transaction: Transaction, signIns: readonly Place[]): Promise<void> {
    await this.vault.remove(transaction, signIns.map(verifierOf));
  }
}

function verifierOf({ organizationId, agentId, stateDigest }: Place): SecretRef {
  return { organizationId, recordId: agentId, field: `drive.sign_in.${stateDigest}` };
}
