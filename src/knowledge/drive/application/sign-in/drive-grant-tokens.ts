import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Database, type SqlExecutor, type Transaction } from '../../../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, Vault } from '../../../../platform/vault/index.js';
import type { SourceId } from '../../persistence/drive-source.repository.js';

const tokensSchema = z.object({ accessToken: z.string(), refreshToken: z.string() });
export type DriveTokens = z.output<typeof tokensSchema>;

/** The tokens of sign-ins, in the vault record of their source. */
@Injectable()
export class DriveGrantTokens {
  constructor(
    private readonly vault: Vault,
    private readonly database: Database,
  ) {}

  /** @returns null where there are none that can be read: a new sign-in brings others */
  async read(source: SourceId, executor: SqlExecutor = this.database): Promise<DriveTokens | null> {
    try {
      const [json] = await this.vault.readMany([refOf(source)], executor);
      return json === undefined ? null : tokensSchema.parse(JSON.parse(json));
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }

  async put(transaction: Transaction, source: SourceId, tokens: DriveTokens): Promise<void> {
    await this.vault.put(transaction, refOf(source), JSON.stringify(tokens));
  }

  async remove(transaction: Transaction, source: SourceId): Promise<void> {
    await this.vault.remove(transaction, [refOf(source)]);
  }
}

function refOf({ organizationId, id }: SourceId): SecretRef {
  return { organizationId, recordId: id, field: 'drive.tokens' };
}
