import { Injectable } from '@nestjs/common';
import type { ClaimedSource } from '../persistence/drive-source.repository.js';
import { ServiceAccountRepository } from '../persistence/service-account.repository.js';
import type { DriveAccess } from './drive-http.js';
import { ServiceAccountTokens } from './service-account-tokens.js';
import { DriveGrants } from './sign-in/drive-grants.js';

/** With whose eyes a source sees the drive. */
@Injectable()
export class DriveAccounts {
  constructor(
    private readonly accounts: ServiceAccountRepository,
    private readonly tokens: ServiceAccountTokens,
    private readonly grants: DriveGrants,
  ) {}

  accessOf({ organizationId, id, accountId }: Pick<ClaimedSource, 'organizationId' | 'id' | 'accountId'>): DriveAccess {
    return accountId === null ? this.grants.accessFor({ organizationId, id }) : this.accessOfAccount(organizationId, accountId);
  }

  accessOfAccount(organizationId: string, accountId: string): DriveAccess {
    return this.tokens.accessFor(accountId, () => this.accounts.readKey(organizationId, accountId));
  }
}
