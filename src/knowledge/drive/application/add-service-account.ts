import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { ValidationFailed } from '../../../platform/errors/index.js';
import { newId } from '../../../platform/ids/index.js';
import { DriveFailure } from '../domain/drive-failure.js';
import { ServiceAccountExists } from '../domain/drive-errors.js';
import { parseKeyFile } from '../domain/service-account-key.js';
import { DriveApi } from './drive-api.js';
import { ServiceAccountTokens } from './service-account-tokens.js';
import { type ListedServiceAccount, ServiceAccountRepository } from '../persistence/service-account.repository.js';

/** Adds a service account, after the drive was asked whether it works. */
@Injectable()
export class AddServiceAccount {
  constructor(
    private readonly accounts: ServiceAccountRepository,
    private readonly tokens: ServiceAccountTokens,
    private readonly api: DriveApi,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationFailed for what is no key file, and for an account that the drive refuses; ServiceAccountExists;
   * DriveFailure where the drive cannot say
   */
  async execute({ organizationId, memberId }: ApiKeyPrincipal, keyFileContent: string): Promise<ListedServiceAccount> {
    const key = parseKeyFile(keyFileContent);
    await this.tokens.checkKey(key);
    const known = await this.accounts.list(organizationId);
    if (known.some(({ clientEmail }) => clientEmail === key.clientEmail)) throw new ServiceAccountExists(key.clientEmail);
    const id = newId();
    await this.check(this.tokens.accessFor(id, () => Promise.resolve(key)));
    const { clientEmail, projectId } = key;
    const account = { id, organizationId, clientEmail, projectId, addedBy: memberId, createdAt: this.clock.now() };
    await this.database.transaction((transaction) => this.accounts.add(transaction, account, key));
    return { ...account, agentCount: 0 };
  }

  private async check(access: Parameters<DriveApi['check']>[0]): Promise<void> {
    try {
      await this.api.check(access);
    } catch (error) {
      if (!(error instanceof DriveFailure) || error.isPassing) throw error;
      throw new ValidationFailed(`body/keyFileContent is not accepted by the drive. ${error.message}`);
    }
  }
}
