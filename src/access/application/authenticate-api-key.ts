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
import { FamiliarKeys } from './familiar-keys.js';
import { RecordKeyUse } from './record-key-use.js';

/** A revoked key is refused in every process within five seconds; the rest is room for the look-up. */
const TTL_MS = 4_000;
const MAX_ENTRIES = 10_000;

interface Credential {
  readonly principal: ApiKeyPrincipal;
  readonly expiresAt: Date | null;
}

/** Tells whose key it is. A key in steady use costs the database one look-up in four seconds. */
@Injectable()
export class AuthenticateApiKey {
  private readonly known: TtlCache<Credential>;
  /** Apart from the known ones, so that invented keys do not push those out. */
  private readonly unknown: TtlCache<true>;
  private readonly familiar: FamiliarKeys;

  constructor(
    private readonly clock: Clock,
    events: EventBus,
    private readonly keys: ApiKeyRepository,
    private readonly unfamiliar: BatchedKeyLookup,
    private readonly uses: RecordKeyUse,
  ) {
    this.known = new TtlCache({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES });
    this.unknown = new TtlCache({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES });
    this.familiar = new FamiliarKeys(clock);
    events.subscribe(ApiKeyRevoked, ({ digest }) => {
      this.known.delete(digest);
      this.familiar.forget(digest);
    });
  }

  /**
   * @throws ApiKeyInvalid when the text is not a key, or the key is unknown, revoked or expired; what
   *   `BatchedKeyLookup.find` throws
   */
  async execute(text: string): Promise<ApiKeyPrincipal> {
    if (!isWellFormedApiKey(text)) throw new ApiKeyInvalid();
    const digest = digestApiKey(text);
    const name = digest.toString('hex');
    const credential = await this.known.get(name, () => this.find(name, digest));
    if (!credential || this.isOver(credential)) {
      this.familiar.forget(name);
      throw new ApiKeyInvalid();
    }
    this.familiar.remember(name);
    this.uses.record(credential.principal.keyId);
    return credential.principal;
  }

  private isOver({ expiresAt }: Credential): boolean {
    return expiresAt !== null && expiresAt <= this.clock.now();
  }

  private async find(name: string, digest: Buffer): Promise<Credential | undefined> {
    let found: StoredCredential | undefined;
    const isUnknown = await this.unknown.get(name, async () => {
      found = await this.lookUp(name, digest);
      return found ? undefined : true;
    });
    if (isUnknown) return undefined;
    // Somebody else's look-up of the same key may have answered, and keeps what it found.
    found ??= await this.lookUp(name, digest);
    return found && toCredential(found);
  }

  /** A key in use has a look-up of its own, so that it does not wait behind a flood of invented ones. */
  private lookUp(name: string, digest: Buffer): Promise<StoredCredential | undefined> {
    return this.familiar.has(name) ? this.keys.findCredential(digest) : this.unfamiliar.find(digest);
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
