import { Injectable } from '@nestjs/common';
import { InvalidSetting } from '../config/index.js';
import { Database } from '../database/index.js';
import { MasterKeys } from './master-keys.js';
import { openSecret, placeOf, type SealedSecret, sealSecret, SecretUnreadable } from './sealed-secret.js';
import { type Resealed, reseal, type SecretRow } from './secrets.sql.js';
import { StoredSecret } from './vault.schema.js';

export interface RotationResult {
  readonly rotated: number;
  /** The id of the current master key, which does not reveal it. */
  readonly keyId: string;
  readonly remaining: number;
  /** The first secrets that no key here decrypts, as `organization/record/field`. */
  readonly unreadable?: readonly string[];
  readonly hint?: string;
}

/** The process is stopping. Every secret is still readable. */
export class RotationInterrupted extends Error {}

interface Progress {
  rotated: number;
  /** Secrets that were changed or removed between the read and the update. */
  missed: number;
  readonly unreadable: string[];
}

/** Rows of one statement, few enough not to delay others. */
export const ROTATION_BATCH = 100;
/** If other processes still write with an old key, each pass finds more secrets; the operator repeats the rotation later. */
const MAX_PASSES = 20;
const LISTED = 20;

/**
 * Encrypts every secret with the current master key and a new data key, while any number of processes write. At each moment the
 * key of every secret is stored, so a process that dies loses none.
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
   * Continues an interrupted rotation, and joins the one that runs in this process.
   * @throws RotationInterrupted; InvalidSetting if a key file cannot be written
   */
  execute(): Promise<RotationResult> {
    this.running ??= this.rotate().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /**
   * Fails when there are secrets and no key here decrypts any: the key is missing or of another installation, and the service would
   * store new secrets under it.
   * @throws InvalidSetting
   */
  async requireRightKey(): Promise<void> {
    const where = { keyId: { $in: this.masterKeys.ids } };
    if (await this.database.read((em) => em.findOne(StoredSecret, where))) return;
    const secret = await this.database.read((em) => em.findOne(StoredSecret, { keyId: { $nin: this.masterKeys.ids } }));
    if (!secret) return;
    throw new InvalidSetting(
      `${this.masterKeys.place}: the stored secrets are encrypted with another master key (${secret.keyId}, not ${this.masterKeys.ids.join(', ')}): ` +
        'restore that one. If it is lost, the command secrets forget removes what it encrypted',
    );
  }

  /** Removes the secrets that no key here decrypts. Customers must set them again. */
  async forget(): Promise<{ readonly removed: number }> {
    const where = { keyId: { $nin: this.masterKeys.ids } };
    return { removed: await this.database.transaction(({ em }) => em.nativeDelete(StoredSecret, where)) };
  }

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

  /** Repeats passes until one finds nothing, because other processes may write meanwhile. */
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
          'the service is stopping; its next start, or secrets rotate, continues the rotation',
        );
      }
      const rows = await this.othersAfter(after);
      after = rows.at(-1);
      if (!after) return progress;
      await this.rotateBatch(rows, progress);
    }
  }

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
        hint: 'Some secrets are still encrypted with another master key. Those that are listed as unreadable need that key (SECRETS_KEY_FALLBACK), or must be set again; for the others run secrets rotate again. Keep the old key until none remain.',
      };
    }
    if (rotated > 0 || !this.masterKeys.areSettings) return {};
    return {
      hint: 'Every secret is already encrypted with SECRETS_KEY. To change it, first set the new key as SECRETS_KEY and the current one as SECRETS_KEY_FALLBACK, in the order that docs/guide/running-it.md gives.',
    };
  }
}

function placedAfter({ organizationId, recordId, field }: SecretRow) {
  return {
    // A separate condition, so that the index finds the place.
    organizationId: { $gte: organizationId },
    $or: [
      { organizationId: { $gt: organizationId } },
      { organizationId, recordId: { $gt: recordId } },
      { organizationId, recordId, field: { $gt: field } },
    ],
  };
}
