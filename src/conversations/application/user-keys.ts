import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import { bareUserKey, isKeyedUser, keyedUser, type RunUser } from '../domain/user-key.js';

const KEY_BYTES = 32;
/** An organization's key never changes; it leaves the memory of this process after a while. */
const CACHE_MS = 3_600_000;
const CACHED_KEYS = 10_000;

export type UserId = string | number | boolean | undefined;

/** The one way in which a user of an agent is kept: an HMAC of the user's id with a key of the organization, which is in the vault. */
@Injectable()
export class UserKeys {
  private readonly keys: TtlCache<Buffer>;

  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
    private readonly logger: Logger,
    clock: Clock,
  ) {
    this.keys = new TtlCache({ clock, ttlMs: CACHE_MS, maxEntries: CACHED_KEYS });
  }

  /**
   * @returns null where the id names nobody
   * @throws SecretUnreadable where the organization's key does not open. It is never replaced: its users would be lost
   */
  async of(organizationId: string, userId: UserId): Promise<string | null> {
    const bare = bareUserKey(userId);
    return bare === null ? null : keyedUser(await this.keyOf(organizationId), bare);
  }

  /** What is stored of a user, whichever version has stored it. @throws SecretUnreadable */
  async current<Stored extends string | null>(organizationId: string, stored: Stored): Promise<Stored | string> {
    return stored === null || isKeyedUser(stored) ? stored : keyedUser(await this.keyOf(organizationId), stored);
  }

  /**
   * For whom a run is made.
   * @param within the caller's transaction, where it has one: the key is read in it, never made, and not from memory, since
   * a load under way may wait for this transaction's connection
   * @returns null where nobody is named, and where the organization's key cannot be read: the run goes on without memory
   */
  async ofRun(organizationId: string, { session, userContext }: RunUser, within?: Transaction): Promise<string | null> {
    if (session && (session.userKey === null || isKeyedUser(session.userKey))) return session.userKey;
    const bare = session?.userKey ?? bareUserKey(userContext?.['userId']);
    if (bare === null) return null;
    try {
      const key = within ? await this.stored(organizationId, within) : await this.keyOf(organizationId);
      return key === undefined ? null : keyedUser(key, bare);
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      this.logger.error({ err: error, organizationId }, 'The key of the users of an organization cannot be read; runs go on without memory');
      return null;
    }
  }

  private async keyOf(organizationId: string): Promise<Buffer> {
    const key = await this.keys.get(organizationId, async () => (await this.stored(organizationId)) ?? this.make(organizationId));
    if (!key) throw new Error('A key of users was neither found nor made');
    return key;
  }

  private async stored(organizationId: string, transaction?: Transaction): Promise<Buffer | undefined> {
    const [key] = await this.vault.readMany([placeOf(organizationId)], transaction);
    return key === undefined ? undefined : Buffer.from(key, 'base64');
  }

  /** Of processes that make it at once all but the first find it made. */
  private make(organizationId: string): Promise<Buffer> {
    return this.database.transaction(async (transaction) => {
      await transaction.query(`select pg_advisory_xact_lock(hashtextextended('user key ' || $1, 0))`, [organizationId]);
      const made = await this.stored(organizationId, transaction);
      if (made) return made;
      const key = secureRandomBytes(KEY_BYTES);
      await this.vault.put(transaction, placeOf(organizationId), key.toString('base64'));
      return key;
    });
  }
}

function placeOf(organizationId: string): SecretRef {
  return { organizationId, recordId: organizationId, field: 'users.key' };
}
