import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { ApiKeyInvalid } from '../domain/access.errors.js';
import { ApiKeyRevoked } from '../domain/access.events.js';
import { digestApiKey, isWellFormedApiKey } from '../domain/api-key-format.js';
import type { ApiKeyPrincipal } from '../domain/principal.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import type { StoredCredential } from '../persistence/credentials.sql.js';
import { BatchedKeyLookup } from './batched-key-lookup.js';
import { RecordKeyUse } from './record-key-use.js';

/** A revoked key must be refused in every process within five seconds; the difference leaves time for the lookup. */
const TTL_MS = 4_000;
/** How long a key counts as recently used after its last successful check. */
const RECENT_MS = 3_600_000;
const MAX_ENTRIES = 10_000;

interface Credential {
  readonly principal: ApiKeyPrincipal;
  readonly expiresAt: Date | null;
}

/** Finds the principal of an API key. A key in steady use costs the database one lookup in four seconds. */
@Injectable()
export class AuthenticateApiKey {
  private readonly known: TtlCache<Credential>;
  /** A separate cache, so that invented keys do not evict known ones. */
  private readonly unknown: TtlCache<true>;
  /** Digests of keys that this process has recently found valid, so never of invented keys. */
  private readonly recent: TtlCache<true>;

  constructor(
    private readonly clock: Clock,
    events: EventBus,
    private readonly keys: ApiKeyRepository,
    private readonly batchedLookup: BatchedKeyLookup,
    private readonly uses: RecordKeyUse,
  ) {
    this.known = new TtlCache({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES });
    this.unknown = new TtlCache({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES });
    this.recent = new TtlCache({ clock, ttlMs: RECENT_MS, maxEntries: MAX_ENTRIES });
    events.subscribe(ApiKeyRevoked, ({ digest }) => {
      this.known.delete(digest);
      this.recent.delete(digest);
    });
  }

  /**
   * @throws ApiKeyInvalid when the text is not a key, or the key is unknown, revoked or expired; the errors of
   *   `BatchedKeyLookup.find`
   */
  async execute(text: string): Promise<ApiKeyPrincipal> {
    if (!isWellFormedApiKey(text)) throw new ApiKeyInvalid();
    const digest = digestApiKey(text);
    const name = digest.toString('hex');
    const credential = await this.known.get(name, () => this.find(name, digest));
    if (!credential || this.isExpired(credential)) {
      this.recent.delete(name);
      throw new ApiKeyInvalid();
    }
    this.recent.set(name, true);
    this.uses.record(credential.principal.keyId);
    return credential.principal;
  }

  private isExpired({ expiresAt }: Credential): boolean {
    return expiresAt !== null && expiresAt <= this.clock.now();
  }

  private async find(name: string, digest: Buffer): Promise<Credential | undefined> {
    let found: StoredCredential | undefined;
    const isUnknown = await this.unknown.get(name, async () => {
      found = await this.lookUp(name, digest);
      return found ? undefined : true;
    });
    if (isUnknown) return undefined;
    // A concurrent call made the lookup, and its result is not available here.
    found ??= await this.lookUp(name, digest);
    return found && toCredential(found);
  }

  /** A recently used key is looked up by itself, so that it does not wait behind a flood of invented keys. */
  private async lookUp(name: string, digest: Buffer): Promise<StoredCredential | undefined> {
    if (!this.recent.has(name)) return this.batchedLookup.find(digest);
    return (await this.keys.findCredentials([digest])).get(name);
  }
}

function toCredential({ expiresAt, capabilities, agentIds, ...key }: StoredCredential): Credential {
  const principal: ApiKeyPrincipal = {
    kind: 'api_key',
    ...key,
    capabilities: new Set(capabilities),
    agentIds: agentIds && new Set(agentIds),
  };
  return { principal, expiresAt };
}
