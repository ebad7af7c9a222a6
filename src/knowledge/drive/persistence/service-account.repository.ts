import { Injectable } from '@nestjs/common';
import { Database, isUniqueViolation, statement, toDate, type Transaction } from '../../../platform/database/index.js';
import { ServiceAccountExists } from '../domain/drive-errors.js';

export interface ServiceAccount {
  readonly id: string;
  readonly organizationId: string;
  readonly clientEmail: string;
  readonly projectId: string;
  /** The member who added it. */
  readonly addedBy: string;
  readonly createdAt: Date;
}

export interface ListedServiceAccount extends ServiceAccount {
  /** Agents that use it. */
  readonly agentCount: number;
}

interface Row {
  readonly id: string;
  readonly clientEmail: string;
  readonly projectId: string;
  readonly addedBy: string;
  readonly createdAt: string;
  readonly agentCount: number;
}

const insert = statement(
  { id: 'uuid', organizationId: 'uuid', clientEmail: 'text', projectId: 'text', addedBy: 'uuid', createdAt: 'timestamptz' },
  (p) => `insert into drive_service_accounts (id, organization_id, client_email, project_id, added_by, created_at)
    values (${p.id}, ${p.organizationId}, ${p.clientEmail}, ${p.projectId}, ${p.addedBy}, ${p.createdAt})`,
);

const list = statement(
  { organizationId: 'uuid' },
  (p) => `select a.id::text as id, a.client_email as "clientEmail", a.project_id as "projectId", a.added_by::text as "addedBy",
      a.created_at as "createdAt",
      (select count(distinct s.agent_id)::integer from drive_sources s
        where s.account_id = a.id and s.organization_id = a.organization_id and s.removed_at is null
          and exists (select 1 from agents g where g.id = s.agent_id)) as "agentCount"
    from drive_service_accounts a where a.organization_id = ${p.organizationId} order by a.id`,
);

const lock = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `select added_by::text as "addedBy" from drive_service_accounts
    where organization_id = ${p.organizationId} and id = ${p.id} for update`,
);

const remove = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `delete from drive_service_accounts where organization_id = ${p.organizationId} and id = ${p.id}`,
);

@Injectable()
export class ServiceAccountRepository {
  constructor(private readonly database: Database) {}

  /** @throws ServiceAccountExists */
  async add(transaction: Transaction, account: ServiceAccount): Promise<void> {
    try {
      await insert.run(transaction, account);
    } catch (error) {
      if (isUniqueViolation(error)) throw new ServiceAccountExists(account.clientEmail);
      throw error;
    }
  }

  /** The oldest first. */
  async list(organizationId: string): Promise<ListedServiceAccount[]> {
    const rows = await list.run<Row>(this.database, { organizationId });
    return rows.map((row) => ({ ...row, organizationId, createdAt: toDate(row.createdAt) }));
  }

  /** Holds it, so that no agent begins to use it meanwhile. @returns who added it; null where there is none */
  async lock(transaction: Transaction, organizationId: string, id: string): Promise<{ readonly addedBy: string } | null> {
    const [row] = await lock.run<{ addedBy: string }>(transaction, { organizationId, id });
    return row ?? null;
  }

  async remove(transaction: Transaction, organizationId: string, id: string): Promise<void> {
    await remove.run(transaction, { organizationId, id });
  }
}
