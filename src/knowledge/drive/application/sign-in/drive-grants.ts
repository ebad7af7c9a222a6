import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { Database } from '../../../../platform/database/index.js';
import {
  type GrantOwner,
  type GrantSecrets,
  OAuthGrants,
  type ReceivedTokens,
  GrantRejected,
  SignIns,
  type Unusable,
  type UsableGrant,
} from '../../../../platform/oauth/index.js';
import { Vault } from '../../../../platform/vault/index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { StoredDriveGrant, StoredDriveSignIn } from '../../persistence/drive.entities.js';
import type { DriveAccess } from '../drive-api.js';
import { TokenEndpoint } from '../token-endpoint.js';

/** Open sign-ins to the drive, each for an agent. The secret is the code verifier. */
@Injectable()
export class DriveSignIns extends SignIns<StoredDriveSignIn> {
  constructor(database: Database, vault: Vault, clock: Clock) {
    super({ database, vault, clock }, StoredDriveSignIn, 'drive');
  }
}

/** The OAuth grants of drive sources, from people's sign-ins. */
@Injectable()
export class DriveGrants extends OAuthGrants<StoredDriveGrant> {
  constructor(
    database: Database,
    vault: Vault,
    clock: Clock,
    private readonly endpoint: TokenEndpoint,
    private readonly settings: Settings,
  ) {
    super({ database, vault, clock }, StoredDriveGrant, 'drive');
  }

  accessFor(source: GrantOwner): DriveAccess {
    // Read once a step. When another process refreshes it, the drive still accepts this one until it expires.
    let used: UsableGrant<StoredDriveGrant> | undefined;
    return {
      token: async () => {
        used ??= await this.current(source);
        return used.tokens.accessToken;
      },
      replace: async (refused) => {
        if (used?.tokens.accessToken === refused) {
          await this.refresh(source, used.grant.generation);
          used = undefined;
        }
        used ??= await this.usable(source);
        return used.tokens.accessToken;
      },
    };
  }

  protected async request({ tokens: { refreshToken = '' } }: GrantSecrets): Promise<ReceivedTokens> {
    const { client } = this.settings.drive;
    if (!client)
      throw new DriveFailure('unreachable', 'The operator has removed the settings for sign-ins to the drive.');
    const credentials = { client_id: client.id, client_secret: client.secret };
    try {
      return await this.endpoint.request({
        ...{ grant_type: 'refresh_token', refresh_token: refreshToken, ...credentials },
      });
    } catch (error) {
      if (!(error instanceof DriveFailure) || error.reason !== 'refused') throw error;
      if (error.detail !== 'invalid_client') throw new GrantRejected();
      // The operator's credentials are wrong. The grants work again once they are corrected.
      const { detail } = error;
      throw new DriveFailure('unreachable', 'The drive does not accept the client credentials of this service.', {
        detail,
      });
    }
  }

  protected failure(why: Unusable): DriveFailure {
    return why === 'busy'
      ? new DriveFailure('unreachable', 'The access token for the drive cannot be refreshed at the moment.')
      : new DriveFailure(
          'refused',
          'The access to the drive was withdrawn or has expired. A person must sign in again.',
        );
  }
}
