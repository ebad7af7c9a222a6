import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../platform/vault/index.js';
import { bareUserKey, isKeyedUser, keyedUser, type RunUser } from '../domain/user-key.js';

const KEY_BYTES = 32;
/** An organization's key never changes; the time limit only keeps unused keys out of memory. */
const CACHE_MS = 3_600_000;
const CACHED_KEYS = 10_000;

type UserId = string | number | boolean | undefined;

/**
 * Makes the key under which every table stores a user of an agent: an HMAC of the user's id with a random key of the
 * organization, which is in the vault.
 */
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
   * @returns null for an id that names no user (`bareUserKey`)
   * @throws SecretUnreadable when the vault cannot open the organization's key, which is never replaced: its users
   * would be lost
   */
  async of(organizationId: string, userId: UserId): Promise<string | null> {
    const bare = bareUserKey(userId);
    return bare === null ? null : keyedUser(await this.keyOf(organizationId), bare);
  }

  /** The keyed form of a stored user, which an earlier release may have stored bare. @throws SecretUnreadable */
  async current<Stored extends string | null>(organizationId: string, stored: Stored): Promise<Stored | string> {
    return stored === null || isKeyedUser(stored) ? stored : keyedUser(await this.keyOf(organizationId), stored);
  }

  /**
   * The key of a run's user.
   * @param within the caller's transaction, if it has one. The organization's key is then read in it and not through
   * the cache, whose load could wait for this transaction's connection; and a missing key is not created
   * @returns null when the run names no user, and when the organization's key cannot be read: the run then has no
   * memory
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
      this.logger.error(
        { err: error, organizationId },
        'The key of the users of an organization cannot be read; runs continue without memory',
      );
      return null;
    }
  }

  private async keyOf(organizationId: string): Promise<Buffer> {
    const key = await this.keys.get(
      organizationId,
      async () => (await this.stored(organizationId)) ?? this.create(organizationId),
    );
    if (!key) throw new Error('The key of users was neither found nor created');
    return key;
  }

  private async stored(organizationId: string, transaction?: Transaction): Promise<Buffer | undefined> {
    const [key] = await this.vault.readMany([secretRef(organizationId)], transaction);
    return key === undefined ? undefined : Buffer.from(key, 'base64');
  }

  /** The lock serializes processes that create the key at the same time; all but the first find it. */
  private create(organizationId: string): Promise<Buffer> {
    return this.database.transaction(async (transaction) => {
      await transaction.lock(`user key ${organizationId}`);
      const made = await this.stored(organizationId, transaction);
      if (made) return made;
      const key = secureRandomBytes(KEY_BYTES);
      await this.vault.put(transaction, secretRef(organizationId), key.toString('base64'));
      return key;
    });
  }
}

function secretRef(organizationId: string): SecretRef {
  return { organizationId, recordId: organizationId, field: 'users.key' };
}
