import { Injectable } from '@nestjs/common';
import { importPKCS8, SignJWT } from 'jose';
import { Clock } from '../../../platform/clock/index.js';
import { Settings } from '../../../platform/config/index.js';
import { REFRESH_MARGIN_MS } from '../../../platform/oauth/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { refused, type ServiceAccountKey } from '../domain/service-account-key.js';
import type { DriveAccess } from './drive-http.js';
import { ASSERTION_SECONDS, CACHED_TOKENS } from '../limits.js';
import { DRIVE_SCOPE, TokenEndpoint } from './token-endpoint.js';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ALGORITHM = 'RS256';
const MIN_MODULUS_BITS = 2_048;

interface CachedToken {
  readonly accessToken: string;
  /** By the clock that never jumps. */
  readonly until: number;
}

/** Access tokens of service accounts, each kept in memory until shortly before it expires. */
@Injectable()
export class ServiceAccountTokens {
  private readonly cached = new Map<string, CachedToken>();
  private readonly underWay = new Map<string, Promise<string>>();

  constructor(
    private readonly endpoint: TokenEndpoint,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  /** @param readKey asked when a token is needed; the key is not kept */
  accessFor(accountId: string, readKey: () => Promise<ServiceAccountKey>): DriveAccess {
    return {
      token: () => this.tokenOf(accountId, readKey),
      forget: (token) => {
        if (this.cached.get(accountId)?.accessToken === token) this.cached.delete(accountId);
      },
    };
  }

  /** Whether the key can sign. @throws ValidationFailed */
  async checkKey({ privateKey }: ServiceAccountKey): Promise<void> {
    const modulusBits = await importPKCS8(privateKey, ALGORITHM).then(
      ({ algorithm }) => ('modulusLength' in algorithm ? Number(algorithm.modulusLength) : 0),
      () => 0,
    );
    if (modulusBits === 0) throw refused("is not a usable key file: its 'private_key' is not an RSA key in PEM (BEGIN PRIVATE KEY)");
    if (modulusBits < MIN_MODULUS_BITS) throw refused(`is not a usable key file: its 'private_key' is shorter than ${MIN_MODULUS_BITS} bits`);
  }

  private tokenOf(accountId: string, readKey: () => Promise<ServiceAccountKey>): Promise<string> {
    const known = this.cached.get(accountId);
    if (known && known.until > this.clock.monotonic()) return Promise.resolve(known.accessToken);
    const asked = this.underWay.get(accountId);
    if (asked) return asked;
    const asking = this.ask(accountId, readKey).finally(() => this.underWay.delete(accountId));
    this.underWay.set(accountId, asking);
    return asking;
  }

  private async ask(accountId: string, readKey: () => Promise<ServiceAccountKey>): Promise<string> {
    const assertion = await this.assertionOf(await readKey());
    const { accessToken, receivedAt, expiresAt } = await this.endpoint.ask({ grant_type: JWT_BEARER, assertion });
    const lifetimeMs = (expiresAt ?? receivedAt).getTime() - receivedAt.getTime();
    const until = this.clock.monotonic() + lifetimeMs - Math.min(REFRESH_MARGIN_MS, lifetimeMs / 2);
    this.cached.delete(accountId);
    this.cached.set(accountId, { accessToken, until });
    const [oldest] = this.cached.keys();
    if (this.cached.size > CACHED_TOKENS && oldest !== undefined) this.cached.delete(oldest);
    return accessToken;
  }

  /** RFC 7523, for the endpoint of the settings, whatever the key file says. */
  private async assertionOf({ clientEmail, privateKey, privateKeyId }: ServiceAccountKey): Promise<string> {
    const now = Math.floor(this.clock.now().getTime() / 1_000);
    try {
      const key = await importPKCS8(privateKey, ALGORITHM);
      return await new SignJWT({ scope: DRIVE_SCOPE })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', ...(privateKeyId !== null && { kid: privateKeyId }) })
        .setIssuer(clientEmail)
        .setAudience(this.settings.drive.tokenUrl)
        .setIssuedAt(now)
        .setExpirationTime(now + ASSERTION_SECONDS)
        .sign(key);
    } catch (error) {
      throw new DriveFailure('refused', 'The private key of the service account cannot sign.', undefined, error instanceof Error ? error.name : undefined);
    }
  }
}
