import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Database, toDate } from '../../platform/database/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';
import { REMOVE_SALTED_DIGESTS, SALTED_DIGESTS_NEEDED_UNTIL } from './sessions.sql.js';

const SALT_BYTES = 16;

/** The previous release's stored form of an `endUser`. */
export interface SaltedEndUser {
  readonly endUserSalt: string | null;
  readonly endUserDigest: string | null;
}

const NONE: SaltedEndUser = { endUserSalt: null, endUserDigest: null };

/**
 * The salted digests with which the previous release compares `endUser`. Its processes may run beside this release for an hour; until
 * then new sessions have the digests too, so that any process can renew any session. Afterwards a job removes them. The next release
 * can drop this class with its columns.
 */
@Injectable()
export class SaltedEndUsers {
  private neededUntil: Date | undefined;

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  async of(endUser: string | undefined): Promise<SaltedEndUser> {
    if (endUser === undefined || !(await this.areNeeded())) return NONE;
    const salt = secureRandomBytes(SALT_BYTES);
    const digest = createHmac('sha256', salt).update(Buffer.from(endUser, 'utf16le')).digest('base64url');
    return { endUserSalt: salt.toString('base64url'), endUserDigest: digest };
  }

  /** Removes up to `limit` digests once they are not needed. @returns whether there may be more */
  async removeSome(limit: number): Promise<boolean> {
    if (await this.areNeeded()) return false;
    return (await REMOVE_SALTED_DIGESTS.run(this.database, { limit })).length === limit;
  }

  /** The embedded database has one process, so no process of another release runs beside it. */
  private async areNeeded(): Promise<boolean> {
    if (this.settings.embedded) return false;
    this.neededUntil ??= await this.readNeededUntil();
    return this.clock.now() < this.neededUntil;
  }

  private async readNeededUntil(): Promise<Date> {
    const [row] = await SALTED_DIGESTS_NEEDED_UNTIL.run<{ needed_until: string }>(this.database, {});
    return row ? toDate(row.needed_until) : new Date(0);
  }
}
