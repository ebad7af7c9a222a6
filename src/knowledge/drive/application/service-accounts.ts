import { Injectable } from '@nestjs/common';
import { type ApiKeyPrincipal, OrganizationDirectory } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { ValidationFailed } from '../../../platform/errors/index.js';
import { newId } from '../../../platform/ids/index.js';
import {
  DriveAccountAmbiguous,
  DriveAccountNotConfigured,
  ForbiddenDriveAccount,
  ForbiddenServiceAccountManage,
  ServiceAccountExists,
  ServiceAccountNotFound,
} from '../domain/drive-errors.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { parseKeyFile } from '../domain/service-account-key.js';
import { type ListedServiceAccount, ServiceAccountRepository } from '../persistence/service-account.repository.js';
import { DriveAccounts } from './drive-accounts.js';
import { DriveApi } from './drive-api.js';
import { DriveSources } from './drive-sources.js';

/** The service accounts of an organization. Owners and admins use and delete all of them, members those that they added. */
@Injectable()
export class ServiceAccounts {
  constructor(
    private readonly organizations: OrganizationDirectory,
    private readonly accounts: ServiceAccountRepository,
    private readonly driveAccounts: DriveAccounts,
    private readonly api: DriveApi,
    private readonly sources: DriveSources,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Adds an account once the drive has accepted it.
   * @throws ValidationFailed if the key file is invalid or the drive refuses it; DriveFailure if the drive is unavailable; ServiceAccountExists
   */
  async add({ organizationId, memberId }: ApiKeyPrincipal, keyFileContent: string): Promise<ListedServiceAccount> {
    const key = parseKeyFile(keyFileContent);
    const { clientEmail, projectId } = key;
    await this.driveAccounts.checkKey(key);
    const known = await this.accounts.list(organizationId);
    if (known.some((account) => account.clientEmail === clientEmail)) throw new ServiceAccountExists(clientEmail);
    const id = newId();
    try {
      await this.api.check(this.driveAccounts.accessWith(id, () => Promise.resolve(key)));
    } catch (error) {
      if (!(error instanceof DriveFailure) || error.isTransient) throw error;
      throw new ValidationFailed(`body/keyFileContent is not accepted by the drive. ${error.message}`);
    }
    const account = { id, organizationId, clientEmail, projectId, addedBy: memberId, createdAt: this.clock.now() };
    await this.database.transaction((transaction) => this.accounts.add(transaction, account, key));
    return { ...account, agentCount: 0 };
  }

  /** Removes an account and the sources that use it. A job removes their documents. @throws ServiceAccountNotFound, ForbiddenServiceAccountManage */
  async remove(caller: ApiKeyPrincipal, id: string): Promise<void> {
    const { organizationId } = caller;
    const mayUse = await this.permissionOf(caller);
    await this.database.transaction(async (transaction) => {
      const account = await this.accounts.lock(transaction, organizationId, id);
      if (!account) throw new ServiceAccountNotFound();
      if (!mayUse(account)) throw new ForbiddenServiceAccountManage();
      await this.sources.removeAll(transaction, { organizationId, accountId: id });
      await this.accounts.remove(transaction, organizationId, id);
    });
  }

  /**
   * The account that the caller names, or the only one that the caller may use.
   * @throws DriveAccountNotConfigured, DriveAccountAmbiguous, ForbiddenDriveAccount, ServiceAccountNotFound
   */
  async choose(caller: ApiKeyPrincipal, id: string | undefined): Promise<ListedServiceAccount> {
    const all = await this.accounts.list(caller.organizationId);
    const available = all.filter(await this.permissionOf(caller));
    const named = all.find((account) => account.id === id);
    if (named && !available.includes(named)) throw new ForbiddenDriveAccount();
    if (named) return named;
    const [only] = available;
    if (!only) throw new DriveAccountNotConfigured();
    if (id !== undefined) throw new ServiceAccountNotFound();
    if (available.length > 1) throw new DriveAccountAmbiguous(available.length);
    return only;
  }

  /** Whether the person who owns the key may use and delete each account. */
  private async permissionOf({
    organizationId,
    memberId,
  }: ApiKeyPrincipal): Promise<(account: { readonly addedBy: string }) => boolean> {
    const role = await this.organizations.memberRole(organizationId, memberId);
    return ({ addedBy }) => role === 'owner' || role === 'admin' || addedBy === memberId;
  }
}
