import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../../access/index.js';
import { Database, isForeignKeyViolation } from '../../../platform/database/index.js';
import { DriveFilesNotFound, ServiceAccountNotFound } from '../domain/drive-errors.js';
import { DriveAccounts } from './drive-accounts.js';
import { DriveLookUp } from './drive-look-up.js';
import { DriveSources } from './drive-sources.js';
import { ServiceAccounts } from './service-accounts.js';

export interface DriveSelection {
  readonly agentId: string;
  /** Of a service account; undefined for the one that is available. */
  readonly integrationId: string | undefined;
  readonly fileIds: readonly string[];
}

/** Makes files that a service account sees known to an agent, in place of those that it knew through a service account before. */
@Injectable()
export class SelectDriveFiles {
  constructor(
    private readonly accounts: ServiceAccounts,
    private readonly driveAccounts: DriveAccounts,
    private readonly lookUp: DriveLookUp,
    private readonly sources: DriveSources,
    private readonly database: Database,
  ) {}

  /** @throws what `ServiceAccounts.chosenBy` throws, DriveFilesNotFound, AgentNotFound, DriveFailure; nothing is stored then */
  async execute(caller: ApiKeyPrincipal, { agentId, integrationId, fileIds }: DriveSelection): Promise<void> {
    const { organizationId } = caller;
    const { id: accountId, clientEmail } = await this.accounts.chosenBy(caller, integrationId);
    const { files, unseen } = await this.lookUp.execute(
      this.driveAccounts.accessOfAccount(organizationId, accountId),
      fileIds,
    );
    if (unseen.length > 0) throw new DriveFilesNotFound(unseen, `The service account ${clientEmail}`);
    const selection = { organizationId, agentId, kind: 'service_account', accountId, files } as const;
    try {
      await this.database.transaction((transaction) => this.sources.select(transaction, selection));
    } catch (error) {
      // Deleted while the drive was asked.
      if (isForeignKeyViolation(error)) throw new ServiceAccountNotFound();
      throw error;
    }
  }
}
