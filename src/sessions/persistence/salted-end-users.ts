import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { Database, toDate } from '../../platform/database/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';

const SALT_BYTES = 16;

/** The form in which the previous release stores an `endUser`. */
export interface SaltedEndUser {
  readonly endUserSalt: string | null;
  readonly endUserDigest: string | null;
}

const NONE: SaltedEndUser = { endUserSalt: null, endUserDigest: null };

/**
 * The salted digests with which the previous release compares `endUser`. During the hour in which its processes may run beside
 * those of this release, new sessions have them too, so that any process can renew any session; then they are removed. The next
 * release can drop this class with its columns.
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

  /** Removes up to `limit` digests, once they are not needed. @returns whether there may be more */
  async removeSome(limit: number): Promise<boolean> {
    if (await this.areNeeded()) return false;
    const rows = await this.database.query(
      `update sessions set end_user_salt = null, end_user_digest = null
        where id = any(array(select id from sessions where end_user_digest is not null limit $1::integer for update skip locked)) returning 1`,
      [limit],
    );
    return rows.length === limit;
  }

  /** The embedded database has one process, so no process of another release runs beside it. */
  private async areNeeded(): Promise<boolean> {
    if (this.settings.embedded) return false;
    this.neededUntil ??= await this.readNeededUntil();
    return this.clock.now() < this.neededUntil;
  }

  private async readNeededUntil(): Promise<Date> {
    const [row] = await this.database.query<{ needed_until: string }>('select needed_until from salted_end_users');
    return row ? toDate(row.needed_until) : new Date(0);
  }
}
