import { LockMode } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database, type EntityReader, type Transaction } from '../../platform/database/index.js';
import type { Endpoint } from '../domain/endpoint.js';
import type { EndpointRef } from './delivery.repository.js';
import { SUBSCRIBED_ORGANIZATIONS, SWITCH_OFF_FAILING } from './deliveries.sql.js';
import { StoredEndpoint } from './webhooks.schema.js';

/** Statements of deliveries change the rows past the unit of work. */
const AS_STORED = { disableIdentityMap: true } as const;

@Injectable()
export class EndpointRepository {
  constructor(private readonly database: Database) {}

  /** Oldest first. */
  async list(organizationId: string): Promise<Endpoint[]> {
    const options = { orderBy: { id: 'asc' }, ...AS_STORED } as const;
    return (await this.database.read((em) => em.find(StoredEndpoint, { organizationId }, options))).map(toEndpoint);
  }

  async find(organizationId: string, id: string, source: EntityReader = this.database): Promise<Endpoint | null> {
    const row = await source.read((em) => em.findOne(StoredEndpoint, { organizationId, id }, AS_STORED));
    return row && toEndpoint(row);
  }

  /** Locks the endpoint until the transaction ends; runs can end meanwhile. */
  async findForUpdate({ em }: Transaction, organizationId: string, id: string): Promise<Endpoint | null> {
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, ...AS_STORED } as const;
    const row = await em.findOne(StoredEndpoint, { organizationId, id }, options);
    return row && toEndpoint(row);
  }

  count({ em }: Transaction, organizationId: string): Promise<number> {
    return em.count(StoredEndpoint, { organizationId });
  }

  /** Ids of the organizations that have endpoints. */
  async organizations(): Promise<string[]> {
    const rows = await SUBSCRIBED_ORGANIZATIONS.run<{ organization_id: string }>(this.database, {});
    return rows.map(({ organization_id: organizationId }) => organizationId);
  }

  async add({ em }: Transaction, endpoint: Endpoint): Promise<void> {
    await em.insert(StoredEndpoint, { ...toRow(endpoint), failingSince: null });
  }

  /** @param forgetsFailures whether the endpoint now counts as one that has not failed */
  async store({ em }: Transaction, endpoint: Endpoint, forgetsFailures: boolean): Promise<void> {
    const { id, organizationId, ...row } = toRow(endpoint);
    const failures = forgetsFailures ? { failingSince: null } : {};
    await em.nativeUpdate(StoredEndpoint, { organizationId, id }, { ...row, ...failures });
  }

  /** @returns whether there was one */
  async remove({ em }: Transaction, organizationId: string, id: string): Promise<boolean> {
    return (await em.nativeDelete(StoredEndpoint, { organizationId, id })) > 0;
  }

  /** Switches off the endpoints of any organization that have failed since then. @returns them */
  async switchOffFailing(before: Date): Promise<EndpointRef[]> {
    const rows = await SWITCH_OFF_FAILING.run<{ id: string; organization_id: string }>(this.database, { before });
    return rows.map(({ id, organization_id: organizationId }) => ({ id, organizationId }));
  }
}

function toEndpoint(row: Endpoint): Endpoint {
  const { id, organizationId, url, events, agentIds, description, enabled, disabledReason, createdAt } = row;
  return { id, organizationId, url, events, agentIds, description, enabled, disabledReason, createdAt };
}

function toRow({ events, agentIds, ...endpoint }: Endpoint) {
  return { ...endpoint, events: [...events], agentIds: agentIds && [...agentIds] };
}
