import { Injectable } from '@nestjs/common';
import { Database } from '../database/index.js';
import { MasterKeys } from './master-keys.js';
import { openSecret, placeOf, type SealedSecret, sealSecret, type SecretRef, SecretUnreadable } from './sealed-secret.js';

export interface RotationResult {
  /** Secrets that this rotation encrypted anew. */
  readonly rotated: number;
  /** The master key that new secrets are under; says nothing about the key itself. */
  readonly keyId: string;
  /** Secrets that are still under another key. */
  readonly remaining: number;
  /** The first of those that no key here opens, as `organization/record/field`. */
  readonly unreadable?: readonly string[];
  /** What to do next, where something is left to do. */
  readonly hint?: string;
}

/** The process is about to end; every secret is readable all the same. */
export class RotationInterrupted extends Error {}

interface StoredSecret extends SealedSecret {
  readonly organization_id: string;
  readonly record_id: string;
  readonly field: string;
}

interface Progress {
  /** Encrypted anew. */
  rotated: number;
  /** Written or removed by somebody else between the look and the update. */
  missed: number;
  readonly unreadable: string[];
}

/** Rows read and written by one statement each: short enough that nobody waits for one. */
export const ROTATION_BATCH = 100;
/** Where other processes go on writing under an old key, each pass finds some more; the operator runs it again. */
const MAX_PASSES = 20;
const LISTED = 20;

const FIRST = ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000', ''] as const;

/**
 * Brings every secret under the current master key, each under a new data key, while any number of processes write.
 * At each moment every secret is under a key that is stored, so a process that dies here loses none.
 */
@Injectable()
export class RotateSecrets {
  private running: Promise<RotationResult> | undefined;
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly masterKeys: MasterKeys,
  ) {}

  /**
   * Safe to repeat: it goes on where a rotation was interrupted, and joins one under way in this process.
   * @throws RotationInterrupted; InvalidSetting when a key file cannot be written
   */
  execute(): Promise<RotationResult> {
    this.running ??= this.rotate().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Ends a rotation under way after its present batch. */
  async stop(): Promise<void> {
    this.stopping = true;
    await this.running?.catch(() => undefined);
  }

  private async rotate(): Promise<RotationResult> {
    this.masterKeys.beginRotation();
    const { rotated, unreadable } = await this.rotateAll();
    const others = await this.countOthers();
    if (others.readable === 0) this.masterKeys.completeRotation();
    const remaining = others.readable + others.unknown;
    return {
      rotated,
      keyId: this.masterKeys.current.id,
      remaining,
      ...(unreadable.length > 0 && { unreadable }),
      ...this.hint({ rotated, remaining }),
    };
  }

  /** Again and again, until a pass finds nothing to do: others may write behind it. */
  private async rotateAll(): Promise<{ rotated: number; unreadable: readonly string[] }> {
    let rotated = 0;
    for (let pass = 1; ; pass += 1) {
      const progress = await this.pass();
      rotated += progress.rotated;
      if (progress.rotated + progress.missed === 0 || pass === MAX_PASSES) {
        return { rotated, unreadable: progress.unreadable };
      }
    }
  }

  private async pass(): Promise<Progress> {
    const progress: Progress = { rotated: 0, missed: 0, unreadable: [] };
    let after: readonly string[] = FIRST;
    for (;;) {
      if (this.stopping) {
        throw new RotationInterrupted('the service is stopping; its next start, or secrets rotate, goes on with the rotation');
      }
      const rows = await this.database.query<StoredSecret>(
        `select organization_id::text, record_id::text, field, ciphertext, nonce, wrapped_key, key_id from secrets
         where key_id <> $1 and (organization_id, record_id, field) > ($2::uuid, $3::uuid, $4)
         order by organization_id, record_id, field limit ${String(ROTATION_BATCH)}`,
        [this.masterKeys.current.id, ...after],
      );
      const last = rows.at(-1);
      if (!last) return progress;
      after = [last.organization_id, last.record_id, last.field];
      await this.rotateBatch(rows, progress);
    }
  }

  private async rotateBatch(rows: readonly StoredSecret[], progress: Progress): Promise<void> {
    const changes = rows.flatMap((row) => {
      const sealed = this.sealAnew(row, progress.unreadable);
      return sealed ? [change(row, sealed)] : [];
    });
    if (changes.length === 0) return;
    // The wrapped key is as good as a version: every write makes another one. `updated_at` tells when the secret
    // itself was set.
    const updated = await this.database.query(
      `update secrets s set ciphertext = decode(n.ciphertext, 'base64'), nonce = decode(n.nonce, 'base64'),
         wrapped_key = decode(n.wrapped_key, 'base64'), key_id = n.key_id
       from jsonb_to_recordset($1::jsonb) as n (organization_id uuid, record_id uuid, field text,
         was text, ciphertext text, nonce text, wrapped_key text, key_id text)
       where (s.organization_id, s.record_id, s.field) = (n.organization_id, n.record_id, n.field)
         and s.wrapped_key = decode(n.was, 'base64')
       returning 1 as updated`,
      [JSON.stringify(changes)],
    );
    progress.rotated += updated.length;
    progress.missed += changes.length - updated.length;
  }

  private sealAnew(row: StoredSecret, unreadable: string[]): SealedSecret | undefined {
    const ref = refOf(row);
    try {
      return sealSecret(this.masterKeys.current, ref, openSecret(this.masterKeys, ref, row));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      if (unreadable.length < LISTED) unreadable.push(placeOf(ref));
      return undefined;
    }
  }

  private async countOthers(): Promise<{ readonly readable: number; readonly unknown: number }> {
    const rows = await this.database.query<{ key_id: string; secrets: number }>(
      'select key_id, count(*)::int as secrets from secrets where key_id <> $1 group by key_id',
      [this.masterKeys.current.id],
    );
    const sum = (known: boolean): number =>
      rows
        .filter(({ key_id: keyId }) => (this.masterKeys.find(keyId) !== undefined) === known)
        .reduce((total, { secrets }) => total + secrets, 0);
    return { readable: sum(true), unknown: sum(false) };
  }

  private hint({ rotated, remaining }: { rotated: number; remaining: number }): { hint?: string } {
    if (remaining > 0) {
      return {
        hint: 'Some secrets are still under another master key. Those that are listed as unreadable need their key back (SECRETS_KEY_FALLBACK), or to be set anew; for the others run secrets rotate again. Keep the old key until none remain.',
      };
    }
    if (rotated > 0 || !this.masterKeys.areSettings) return {};
    return {
      hint: 'Every secret is under SECRETS_KEY already. To change it, set the new key as SECRETS_KEY and the present one as SECRETS_KEY_FALLBACK first, in the order that the README gives.',
    };
  }
}

function refOf(row: StoredSecret): SecretRef {
  return { organizationId: row.organization_id, recordId: row.record_id, field: row.field };
}

function change(row: StoredSecret, sealed: SealedSecret): object {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
  return {
    organization_id: row.organization_id,
    record_id: row.record_id,
    field: row.field,
    was: base64(row.wrapped_key),
    ciphertext: base64(sealed.ciphertext),
    nonce: base64(sealed.nonce),
    wrapped_key: base64(sealed.wrapped_key),
    key_id: sealed.key_id,
  };
}
