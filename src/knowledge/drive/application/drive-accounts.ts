import { Injectable } from '@nestjs/common';
import { importPKCS8, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import { entryLimit } from '../../../platform/cache/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { REFRESH_MARGIN_MS } from '../../../platform/oauth/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { invalidKeyFile, type ServiceAccountKey } from '../domain/service-account-key.js';
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

/** Access to the drive for a source, by its service account or a person's sign-in. */
@Injectable()
export class DriveAccounts {
  /** Tokens of service accounts, each until shortly before it expires. Concurrent callers share one request. */
  private readonly tokens: LRUCache<string, string, ReadKey>;

  constructor(
    private readonly accounts: ServiceAccountRepository,
    private readonly grants: DriveGrants,
    private readonly endpoint: TokenEndpoint,
    private readonly settings: Settings,
    clock: Clock,
  ) {
    this.tokens = new LRUCache<string, string, ReadKey>({
      ...entryLimit(CACHED_TOKENS),
      ttlResolution: 0,
      // The library takes a start time of 0 as none.
      perf: { now: () => clock.monotonic() + 1 },
      fetchMethod: async (_id, _expired, { options, context: readKey }) => {
        const assertion = await this.createAssertion(await readKey(), clock.now());
        const { accessToken, receivedAt, expiresAt } = await this.endpoint.request({
          grant_type: JWT_BEARER,
          assertion,
        });
        const lifetimeMs = (expiresAt ?? receivedAt).getTime() - receivedAt.getTime();
        options.ttl = Math.max(1, lifetimeMs - Math.min(REFRESH_MARGIN_MS, lifetimeMs / 2));
        return accessToken;
      },
    });
  }

  accessFor({ organizationId, id, accountId }: StoredDriveSource): DriveAccess {
    if (accountId === null) return this.grants.accessFor({ organizationId, id });
    return this.accessForAccount(organizationId, accountId);
  }

  accessForAccount(organizationId: string, accountId: string): DriveAccess {
    return this.accessWith(accountId, () => this.accounts.readKey(organizationId, accountId));
  }

  /** @param readKey called when a token is requested; the key is not kept */
  accessWith(accountId: string, readKey: ReadKey): DriveAccess {
    const token = (): Promise<string> => this.tokens.forceFetch(accountId, { context: readKey });
    const replace = (refused: string): Promise<string> => {
      if (this.tokens.peek(accountId) === refused) this.tokens.delete(accountId);
      return token();
    };
    return { token, replace };
  }

  /** @throws ValidationFailed where the key cannot sign */
  async checkKey({ privateKey }: ServiceAccountKey): Promise<void> {
    const modulusBits = await importPKCS8(privateKey, ALGORITHM).then(
      ({ algorithm }) => ('modulusLength' in algorithm ? Number(algorithm.modulusLength) : 0),
      () => 0,
    );
    if (modulusBits === 0)
      throw invalidKeyFile("is not a usable key file: its 'private_key' is not an RSA key in PEM (BEGIN PRIVATE KEY)");
    if (modulusBits < MIN_MODULUS_BITS)
      throw invalidKeyFile(`is not a usable key file: its 'private_key' is shorter than ${MIN_MODULUS_BITS} bits`);
  }

  /** RFC 7523. The audience is the endpoint in the settings, not the one in the key file. */
  private async createAssertion(
    { clientEmail, privateKey, privateKeyId }: ServiceAccountKey,
    now: Date,
  ): Promise<string> {
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
      const detail = error instanceof Error ? error.name : undefined;
      throw new DriveFailure('refused', 'The private key of the service account cannot sign.', { detail });
    }
  }
}
