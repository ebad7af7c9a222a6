import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { isUniqueViolation } from '../../platform/database/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { SecretUnreadable } from '../../platform/vault/index.js';
import type { UserColumn } from '../domain/user-column.js';
import { type BareUser, UserColumnsRepository } from '../persistence/user-columns.repository.js';
import { UserColumns } from './user-columns.js';
import { UserKeys } from './user-keys.js';

/** Rows of one transaction: statements that wait for one of these rows should not wait long. */
const REKEYED_ROWS = 1_000;

type KeyedUser = BareUser & { readonly keyed: string };

/**
 * Replaces the bare digests of users that earlier releases stored by keyed ones. A stored key shows whether it is
 * keyed, so an interrupted run can be repeated.
 */
@Injectable()
export class RekeyUsers {
  constructor(
    private readonly columns: UserColumns,
    private readonly rows: UserColumnsRepository,
    private readonly users: UserKeys,
    private readonly organizations: OrganizationDirectory,
    private readonly logger: Logger,
  ) {}

  /**
   * Re-keys the columns by which rows are looked up. A process must not serve requests before: its look-ups would miss
   * bare rows.
   */
  async rekeyLookedUpColumns(): Promise<void> {
    for (const column of this.columns.all) if (column.isLookedUp) await this.rekeyColumn(column);
  }

  /** @throws the reason of `signal` when it aborts */
  async rekeyAllColumns(signal: AbortSignal): Promise<void> {
    for (const column of this.columns.all) await this.rekeyColumn(column, signal);
  }

  private async rekeyColumn(column: UserColumn, signal?: AbortSignal): Promise<void> {
    const unkeyed = new Set<string>();
    for (;;) {
      signal?.throwIfAborted();
      const bare = await this.rows.bareUsers(column, [...unkeyed], REKEYED_ROWS);
      if (bare.length === 0) return;
      const keyed = await this.keyed(bare, unkeyed);
      if (keyed.length > 0) await this.rekey(column, keyed);
    }
  }

  private async rekey(column: UserColumn, keyed: readonly KeyedUser[]): Promise<void> {
    try {
      await this.rows.rekey(column, keyed, REKEYED_ROWS);
    } catch (error) {
      // Another process has inserted the same row with the keyed user; the next round deletes the bare row.
      if (!isUniqueViolation(error)) throw error;
    }
  }

  /**
   * @param unkeyed collects the organizations without a usable key: deleted ones, and those whose key cannot be read
   */
  private async keyed(users: readonly BareUser[], unkeyed: Set<string>): Promise<KeyedUser[]> {
    const keyed: KeyedUser[] = [];
    for (const user of users) {
      const { organizationId, bare } = user;
      try {
        if (unkeyed.has(organizationId)) continue;
        if (await this.organizations.find(organizationId))
          keyed.push({ ...user, keyed: await this.users.current(organizationId, bare) });
        else unkeyed.add(organizationId);
      } catch (error) {
        if (!(error instanceof SecretUnreadable)) throw error;
        this.logger.error(
          { err: error, organizationId },
          'Users of an organization cannot be re-keyed: its key of users cannot be read',
        );
        unkeyed.add(organizationId);
      }
    }
    return keyed;
  }
}
