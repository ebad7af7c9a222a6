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
  /** The id of a service account; undefined where only one is available. */
  readonly integrationId: string | undefined;
  readonly fileIds: readonly string[];
}

/** Replaces the files that an agent knows through a service account. */
@Injectable()
export class SelectDriveFiles {
  constructor(
    private readonly accounts: ServiceAccounts,
    private readonly driveAccounts: DriveAccounts,
    private readonly lookUp: DriveLookUp,
    private readonly sources: DriveSources,
    private readonly database: Database,
  ) {}

  /** @throws errors of `ServiceAccounts.choose`, DriveFilesNotFound, AgentNotFound, DriveFailure; nothing is stored then */
  async execute(caller: ApiKeyPrincipal, { agentId, integrationId, fileIds }: DriveSelection): Promise<void> {
    const { organizationId } = caller;
    const { id: accountId, clientEmail } = await this.accounts.choose(caller, integrationId);
    const { files, notVisible } = await this.lookUp.execute(
      this.driveAccounts.accessForAccount(organizationId, accountId),
      fileIds,
    );
    if (notVisible.length > 0) throw new DriveFilesNotFound(notVisible, `The service account ${clientEmail}`);
    const selection = { organizationId, agentId, kind: 'service_account', accountId, files } as const;
    try {
      await this.database.transaction((transaction) => this.sources.select(transaction, selection));
    } catch (error) {
      // The account was deleted during the look-up.
      if (isForeignKeyViolation(error)) throw new ServiceAccountNotFound();
      throw error;
    }
  }
}
