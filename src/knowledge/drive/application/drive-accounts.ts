import { Injectable } from '@nestjs/common';
import { importPKCS8, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { REFRESH_MARGIN_MS } from '../../../platform/oauth/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { refused, type ServiceAccountKey } from '../domain/service-account-key.js';
import { ASSERTION_SECONDS, CACHED_TOKENS } from '../limits.js';
import { ServiceAccountRepository } from '../persistence/service-account.repository.js';
import type { StoredDriveSource } from '../persistence/drive.entities.js';
import type { DriveAccess } from './drive-api.js';
import { DriveGrants } from './sign-in/drive-grants.js';
import { DRIVE_SCOPE, TokenEndpoint } from './token-endpoint.js';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ALGORITHM = 'RS256';
const MIN_MODULUS_BITS = 2_048;

type ReadKey = () => Promise<ServiceAccountKey>;

/** The account as which a source reads the drive: a service account, or that of a person who has signed in. */
@Injectable()
export class DriveAccounts {
  /** Tokens of service accounts, each until shortly before it expires; callers who ask at once share one request. */
  private readonly tokens: LRUCache<string, string, ReadKey>;

  constructor(
    private readonly accounts: ServiceAccountRepository,
    private readonly grants: DriveGrants,
    private readonly endpoint: TokenEndpoint,
    private readonly settings: Settings,
    clock: Clock,
  ) {
    this.tokens = new LRUCache<string, string, ReadKey>({
      max: CACHED_TOKENS,
      ttlResolution: 0,
      // The library takes a beginning at 0 for none.
      perf: { now: () => clock.monotonic() + 1 },
      fetchMethod: async (_id, _expired, { options, context: readKey }) => {
        const assertion = await this.assertionOf(await readKey(), clock.now());
        const { accessToken, receivedAt, expiresAt } = await this.endpoint.ask({ grant_type: JWT_BEARER, assertion });
        const lifetimeMs = (expiresAt ?? receivedAt).getTime() - receivedAt.getTime();
        options.ttl = Math.max(1, lifetimeMs - Math.min(REFRESH_MARGIN_MS, lifetimeMs / 2));
        return accessToken;
      },
    });
  }

  accessOf({
    organizationId,
    id,
    accountId,
  }: Pick<StoredDriveSource, 'organizationId' | 'id' | 'accountId'>): DriveAccess {
    return accountId === null
      ? this.grants.accessFor({ organizationId, id })
      : this.accessOfAccount(organizationId, accountId);
  }

  accessOfAccount(organizationId: string, accountId: string): DriveAccess {
    return this.accessWith(accountId, () => this.accounts.readKey(organizationId, accountId));
  }

  /** @param readKey asked when a token is needed; the key is not kept */
  accessWith(accountId: string, readKey: ReadKey): DriveAccess {
    const token = (): Promise<string> => this.tokens.forceFetch(accountId, { context: readKey });
    const replace = (refused: string): Promise<string> => {
      if (this.tokens.peek(accountId) === refused) this.tokens.delete(accountId);
      return token();
    };
    return { token, replace };
  }

  /** Whether the key can sign. @throws ValidationFailed */
  async checkKey({ privateKey }: ServiceAccountKey): Promise<void> {
    const modulusBits = await importPKCS8(privateKey, ALGORITHM).then(
      ({ algorithm }) => ('modulusLength' in algorithm ? Number(algorithm.modulusLength) : 0),
      () => 0,
    );
    if (modulusBits === 0)
      throw refused("is not a usable key file: its 'private_key' is not an RSA key in PEM (BEGIN PRIVATE KEY)");
    if (modulusBits < MIN_MODULUS_BITS)
      throw refused(`is not a usable key file: its 'private_key' is shorter than ${MIN_MODULUS_BITS} bits`);
  }

  /** RFC 7523, for the endpoint of the settings, whatever the key file says. */
  private async assertionOf({ clientEmail, privateKey, privateKeyId }: ServiceAccountKey, now: Date): Promise<string> {
    const seconds = Math.floor(now.getTime() / 1_000);
    try {
      return await new SignJWT({ scope: DRIVE_SCOPE })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', ...(privateKeyId !== null && { kid: privateKeyId }) })
        .setIssuer(clientEmail)
        .setAudience(this.settings.drive.tokenUrl)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + ASSERTION_SECONDS)
        .sign(await importPKCS8(privateKey, ALGORITHM));
    } catch (error) {
      throw new DriveFailure(
        'refused',
        'The private key of the service account cannot sign.',
        undefined,
        error instanceof Error ? error.name : undefined,
      );
    }
  }
}
