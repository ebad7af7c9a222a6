import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { SignIns } from '../../platform/oauth/index.js';
import { Vault } from '../../platform/vault/index.js';
import { StoredOAuthSignIn } from '../persistence/oauth.schema.js';

/** Sign-ins to tool servers that are not completed. The secret of each is the JSON of `SignInSecrets`. */
@Injectable()
export class OpenSignIns extends SignIns<StoredOAuthSignIn> {
  constructor(database: Database, vault: Vault, clock: Clock) {
    super({ database, vault, clock }, StoredOAuthSignIn, 'oauth');
  }
}
