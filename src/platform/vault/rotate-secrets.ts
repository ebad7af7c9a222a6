import { Injectable } from '@nestjs/common';
import { Database } from '../database/index.js';
import { MasterKeys } from './master-keys.js';
import { openSecret, placeOf, type SealedSecret, sealSecret, SecretUnreadable } from './sealed-secret.js';
import { type Resealed, reseal, type SecretRow } from './secrets.sql.js';
import { StoredSecret } from './vault.schema.js';

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

interface Progress {
  /** Encrypted anew. */
  rotated: number;
  /** Written or removed by somebody else between the look and the update. */
  missed: number;
  readonly unreadable: string[];
}

/** Rows read and written by one statement each: short enough not to delay other statements. */
export const ROTATION_BATCH = 100;
/** Where other processes go on writing under an old key, each pass finds some more; the operator runs it again. */
const MAX_PASSES = 20;
const LISTED = 20;

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
    let after: SecretRow | undefined;
    for (;;) {
      if (this.stopping) {
        throw new RotationInterrupted(
          'the service is stopping; its next start, or secrets rotate, goes on with the rotation',
        );
      }
      const rows = await this.othersAfter(after);
      after = rows.at(-1);
      if (!after) return progress;
      await this.rotateBatch(rows, progress);
    }
  }

  /** The next secrets under another key, in the order of their places. */
  private othersAfter(last: SecretRow | undefined): Promise<SecretRow[]> {
    const where = { keyId: { $ne: this.masterKeys.current.id }, ...(last && placedAfter(last)) };
    const orderBy = [{ organizationId: 'asc' }, { recordId: 'asc' }, { field: 'asc' }] as const;
    return this.database.read((em) => em.find(StoredSecret, where, { orderBy: [...orderBy], limit: ROTATION_BATCH }));
  }

  private async rotateBatch(rows: readonly SecretRow[], progress: Progress): Promise<void> {
    const changes = rows.flatMap((was): Resealed[] => {
      const sealed = this.sealAnew(was, progress.unreadable);
      return sealed ? [{ was, sealed }] : [];
    });
    if (changes.length === 0) return;
    const updated = await reseal(this.database, changes);
    progress.rotated += updated;
    progress.missed += changes.length - updated;
  }

  private sealAnew(row: SecretRow, unreadable: string[]): SealedSecret | undefined {
    try {
      return sealSecret(this.masterKeys.current, row, openSecret(this.masterKeys, row, row));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      if (unreadable.length < LISTED) unreadable.push(placeOf(row));
      return undefined;
    }
  }

  private async countOthers(): Promise<{ readonly readable: number; readonly unknown: number }> {
    const where = { keyId: { $ne: this.masterKeys.current.id } };
    const counts = await this.database.read((em) => em.countBy(StoredSecret, 'keyId', { where }));
    const sum = (known: boolean): number =>
      Object.entries(counts)
        .filter(([keyId]) => (this.masterKeys.find(keyId) !== undefined) === known)
        .reduce((total, [, secrets]) => total + secrets, 0);
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
      hint: 'Every secret is under SECRETS_KEY already. To change it, set the new key as SECRETS_KEY and the present one as SECRETS_KEY_FALLBACK first, in the order that docs/guide/running-it.md gives.',
    };
  }
}

function placedAfter({ organizationId, recordId, field }: SecretRow) {
  return {
    // Said apart, so that the index leads to the place.
    organizationId: { $gte: organizationId },
    $or: [
      { organizationId: { $gt: organizationId } },
      { organizationId, recordId: { $gt: recordId } },
      { organizationId, recordId, field: { $gt: field } },
    ],
  };
}
