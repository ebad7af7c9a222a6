import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../../access/index.js';
import { Database } from '../../../platform/database/index.js';
import { ForbiddenServiceAccountManage, ServiceAccountNotFound } from '../domain/drive-errors.js';
import { ServiceAccountRepository } from '../persistence/service-account.repository.js';
import { RemoveDriveSources } from './remove-drive-sources.js';
import { ServiceAccountRights } from './service-account-rights.js';

/** Removes a service account with the settings of agents that use it; their documents follow in a job. */
@Injectable()
export class RemoveServiceAccount {
  constructor(
    private readonly accounts: ServiceAccountRepository,
    private readonly removal: RemoveDriveSources,
    private readonly rights: ServiceAccountRights,
    private readonly database: Database,
  ) {}

  /** @throws ServiceAccountNotFound, ForbiddenServiceAccountManage */
  async execute(caller: ApiKeyPrincipal, id: string): Promise<void> {
    const { organizationId } = caller;
    const mayManage = await this.rights.of(caller);
    await this.database.transaction(async (transaction) => {
      const account = await this.accounts.lock(transaction, organizationId, id);
      if (!account) throw new ServiceAccountNotFound();
      if (!mayManage(account)) throw new ForbiddenServiceAccountManage();
      await this.removal.ofAccount(transaction, organizationId, id);
      await this.accounts.remove(transaction, organizationId, id);
    });
  }
}
