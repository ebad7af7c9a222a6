import { Injectable } from '@nestjs/common';
import { type CryptoKey, exportPKCS8, exportSPKI, generateKeyPair, importPKCS8, importSPKI } from 'jose';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { SIGNING_KEY_ANNOUNCED_MS, SIGNING_KEY_DAYS, SIGNING_KEYS_CACHE_MS, UNKNOWN_KEY_MS } from '../limits.js';
import { SigningKeyRepository } from '../persistence/signing-key.repository.js';
import type { SigningKey } from '../persistence/sessions.schema.js';

/** The only algorithm of passes. A token with another one is refused. */
export const ALGORITHM = 'EdDSA';

const LIFE_MS = SIGNING_KEY_DAYS * 86_400_000;

export interface Signer {
  readonly kid: string;
  readonly key: CryptoKey;
}

/** The keys that sign passes: created when needed, replaced every `SIGNING_KEY_DAYS`, shared by all processes. */
@Injectable()
export class SigningKeys {
  private readonly list: TtlCache<readonly SigningKey[]>;
  private readonly publicKeys = new Map<string, Promise<CryptoKey>>();
  private signer: { readonly kid: string; readonly key: Promise<CryptoKey> } | undefined;
  /** Keys whose secret cannot be decrypted, such as after the loss of the master key. Their passes expire and none is signed again. */
  private readonly unreadable = new Set<string>();
  private reloadedAt = -Infinity;

  constructor(
    private readonly keys: SigningKeyRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.list = new TtlCache({ clock, ttlMs: SIGNING_KEYS_CACHE_MS, maxEntries: 1 });
  }

  async current(): Promise<Signer> {
    for (;;) {
      const kid = await this.currentId();
      if (this.signer?.kid !== kid) {
        this.signer = { kid, key: this.keys.privateKey(kid).then((pem) => importPKCS8(pem, ALGORITHM)) };
      }
      const { key } = this.signer;
      try {
        return { kid, key: await key };
      } catch (error) {
        this.signer = undefined;
        if (!(error instanceof Error) || error.name !== 'SecretUnreadable') throw error;
        this.logger.warn(
          { kid, err: error },
          'The key that signs session passes cannot be read; a new one replaces it',
        );
        this.unreadable.add(kid);
      }
    }
  }

  /** @returns undefined for an invented key or one that has been removed */
  async publicKey(kid: string): Promise<CryptoKey | undefined> {
    const isNamed = ({ id }: SigningKey): boolean => id === kid;
    const key = (await this.known()).find(isNamed) ?? (await this.reloaded()).find(isNamed);
    if (!key) return undefined;
    let imported = this.publicKeys.get(kid);
    if (!imported) {
      imported = importSPKI(key.publicKey, ALGORITHM);
      this.publicKeys.set(kid, imported);
    }
    return imported;
  }

  private async known(): Promise<readonly SigningKey[]> {
    return (await this.list.get('keys', () => this.keys.list())) ?? [];
  }

  /** Unknown key ids cost at most one read per `UNKNOWN_KEY_MS`, however many requests have them. */
  private reloaded(): Promise<readonly SigningKey[]> {
    const now = this.clock.monotonic();
    if (now - this.reloadedAt >= UNKNOWN_KEY_MS) {
      this.reloadedAt = now;
      this.list.delete('keys');
    }
    return this.known();
  }

  private async currentId(): Promise<string> {
    const now = this.clock.now();
    const current = this.signingKey(await this.known(), now);
    if (current && !this.needsSuccessor(await this.known(), now)) return current.id;
    await this.addSuccessor(now);
    this.list.delete('keys');
    const next = this.signingKey(await this.known(), now);
    if (!next) throw new Error('No key signs session passes, although one was added');
    return next.id;
  }

  /** The latest key that signs already; the oldest if, by this process's clock, none does yet. */
  private signingKey(keys: readonly SigningKey[], now: Date): SigningKey | undefined {
    const readable = keys.filter(({ id }) => !this.unreadable.has(id));
    return readable.find(({ signsFrom }) => signsFrom <= now) ?? readable.at(-1);
  }

  private needsSuccessor(keys: readonly SigningKey[], now: Date): boolean {
    const newest = keys.find(({ id }) => !this.unreadable.has(id));
    return !newest || now.getTime() - newest.createdAt.getTime() >= LIFE_MS;
  }

  private async addSuccessor(now: Date): Promise<void> {
    const pair = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true });
    const [publicKey, privateKey] = await Promise.all([exportSPKI(pair.publicKey), exportPKCS8(pair.privateKey)]);
    await this.keys.addIfNeeded((known) => {
      if (!this.needsSuccessor(known, now)) return null;
      const signsFrom = new Date(now.getTime() + (this.signingKey(known, now) ? SIGNING_KEY_ANNOUNCED_MS : 0));
      return { key: { id: newId(), publicKey, createdAt: now, signsFrom }, privateKey };
    });
  }
}
