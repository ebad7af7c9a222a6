import { OrganizationDirectory } from '../../access/index.js';
import { Database, isUniqueViolation } from '../../platform/database/index.js';
import { type ActiveJob, definePeriodicJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { SecretUnreadable } from '../../platform/vault/index.js';
import { UserColumns } from '../application/user-columns.js';
import { UserKeys } from '../application/user-keys.js';
import type { UserColumn } from '../domain/user-key.js';
import { bareUsersIn, deleteBareDuplicates, rekeyRows } from '../persistence/user-columns.sql.js';

/** Rows of one transaction: statements that wait for one of these rows should not wait long. */
const REKEYED_ROWS = 1_000;

/** Shared by all processes: without it two that re-key the same rows could deadlock. */
const LOCK = 'conversations.rekey-users';

interface BareUser {
  readonly organizationId: string;
  readonly bare: string;
}

type KeyedUser = BareUser & { readonly keyed: string };

export const rekeyUsers = definePeriodicJob('conversations.rekey-users', 1);

/**
 * Replaces the bare digests of users that earlier releases stored by keyed ones. A stored key shows whether it is
 * keyed, so an interrupted run can be repeated. The job re-keys the columns that the start of a process does not re-key,
 * and rows that processes of the previous release still write.
 */
@Processor(rekeyUsers.name)
export class RekeyUsers extends WorkerHost {
  constructor(
    private readonly columns: UserColumns,
    private readonly database: Database,
    private readonly users: UserKeys,
    private readonly organizations: OrganizationDirectory,
    private readonly logger: Logger,
  ) {
    super();
  }

  async process({ signal }: ActiveJob): Promise<void> {
    for (const column of this.columns.all) await this.rekeyColumn(column, signal);
  }

  /**
   * Re-keys the columns by which rows are looked up. A process must not serve requests before: its look-ups would miss
   * bare rows.
   */
  async rekeyLookedUpColumns(): Promise<void> {
    for (const column of this.columns.all) if (column.isLookedUp) await this.rekeyColumn(column);
  }

  private async rekeyColumn(column: UserColumn, signal?: AbortSignal): Promise<void> {
    const unkeyed = new Set<string>();
    for (;;) {
      signal?.throwIfAborted();
      const bare = await bareUsersIn(column).run<BareUser>(this.database, {
        except: [...unkeyed],
        limit: REKEYED_ROWS,
      });
      if (bare.length === 0) return;
      const keyed = await this.keyed(bare, unkeyed);
      if (keyed.length > 0) await this.rekey(column, keyed);
    }
  }

  private async rekey(column: UserColumn, users: readonly KeyedUser[]): Promise<void> {
    try {
      await this.database.transaction(async (transaction) => {
        await transaction.lock(LOCK);
        if (column.uniqueWith) await deleteBareDuplicates(column, column.uniqueWith).run(transaction, { users });
        await rekeyRows(column).run(transaction, { users, limit: REKEYED_ROWS });
      });
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
