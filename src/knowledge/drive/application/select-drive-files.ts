import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../../access/index.js';
import { Database, isForeignKeyViolation } from '../../../platform/database/index.js';
import { DriveAccountAmbiguous, DriveAccountNotConfigured, DriveFilesNotFound, ForbiddenDriveAccount, ServiceAccountNotFound } from '../domain/drive-errors.js';
import { DriveAccounts } from './drive-accounts.js';
import { DriveLookUp } from './drive-look-up.js';
import { type ListedServiceAccount, ServiceAccountRepository } from '../persistence/service-account.repository.js';
import { BeginDriveSync } from './begin-drive-sync.js';
import { ServiceAccountRights } from './service-account-rights.js';

export interface DriveSelection {
  readonly agentId: string;
  /** Of a service account; undefined for the one that is available. */
  readonly integrationId: string | undefined;
  readonly fileIds: readonly string[];
}

/** Has an agent know files of a drive as a service account sees them, in place of what it knew through one before. */
@Injectable()
export class SelectDriveFiles {
  constructor(
    private readonly accounts: ServiceAccountRepository,
    private readonly rights: ServiceAccountRights,
    private readonly driveAccounts: DriveAccounts,
    private readonly lookUp: DriveLookUp,
    private readonly begin: BeginDriveSync,
    private readonly database: Database,
  ) {}

  /**
   * @throws DriveAccountNotConfigured, DriveAccountAmbiguous, ForbiddenDriveAccount, ServiceAccountNotFound,
   * DriveFilesNotFound, DriveFailure; nothing is stored then
   */
  async execute(caller: ApiKeyPrincipal, { agentId, integrationId, fileIds }: DriveSelection): Promise<void> {
    const { organizationId } = caller;
    const { id: accountId, clientEmail } = await this.accountFor(caller, integrationId);
    const { files, unseen } = await this.lookUp.execute(this.driveAccounts.accessOfAccount(organizationId, accountId), fileIds);
    if (unseen.length > 0) throw new DriveFilesNotFound(unseen, `The service account ${clientEmail}`);
    try {
      await this.database.transaction((transaction) =>
        this.begin.execute(transaction, { organizationId, agentId, kind: 'service_account', accountId, files }),
      );
    } catch (error) {
      // Deleted while the drive was asked.
      if (isForeignKeyViolation(error)) throw new ServiceAccountNotFound();
      throw error;
    }
  }

  private async accountFor(caller: ApiKeyPrincipal, integrationId: string | undefined): Promise<ListedServiceAccount> {
    const all = await this.accounts.list(caller.organizationId);
    const available = all.filter(await this.rights.of(caller));
    const [only] = available;
    if (integrationId !== undefined) {
      const named = all.find(({ id }) => id === integrationId);
      if (named && !available.includes(named)) throw new ForbiddenDriveAccount();
      if (named) return named;
    }
    if (!only) throw new DriveAccountNotConfigured();
    if (integrationId !== undefined) throw new ServiceAccountNotFound();
    if (available.length > 1) throw new DriveAccountAmbiguous(available.length);
    return only;
  }
}
