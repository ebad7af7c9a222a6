import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { Database } from '../../../../platform/database/index.js';
import { SignIns } from '../../../../platform/oauth/index.js';
import { Vault } from '../../../../platform/vault/index.js';
import { StoredDriveSignIn } from '../../persistence/drive.entities.js';

/** Open sign-ins to the drive, each for an agent. The secret is the code verifier. */
@Injectable()
export class DriveSignIns extends SignIns<StoredDriveSignIn> {
  constructor(database: Database, vault: Vault, clock: Clock) {
    super({ database, vault, clock }, StoredDriveSignIn, 'drive');
  }
}
