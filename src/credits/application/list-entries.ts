import { Injectable } from '@nestjs/common';
import { Cursors, type Page } from '../../platform/cursors/index.js';
import type { CreditEntry } from '../domain/entry.js';
import { monthOfPeriod } from '../domain/period.js';
import { CreditEntryRepository } from '../persistence/credit-entry.repository.js';

export interface ListEntriesQuery {
  readonly periodId?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
@Injectable()
export class ListEntries {
  constructor(
    private readonly entries: CreditEntryRepository,
    private readonly cursors: Cursors,
  ) {}

  /**
   * The list is empty for a period that the organization does not have.
   * @throws ValidationFailed for a cursor that this list has not issued for this period
   */
  async execute(organizationId: string, { periodId, cursor, limit }: ListEntriesQuery): Promise<Page<CreditEntry>> {
    const scope = { list: `credit-entries:${periodId ?? ''}`, organizationId };
    const [createdAt, id] = this.cursors.read(scope, cursor);
    const month = periodId === undefined ? null : monthOfPeriod(organizationId, periodId);
    if (periodId !== undefined && month === null) return { items: [], nextCursor: null };
    const found = await this.entries.list(organizationId, {
      month,
      after: createdAt === undefined || id === undefined ? null : { createdAt: new Date(createdAt), id },
      limit: limit + 1,
    });
    return this.cursors.page(scope, found, limit, (last) => [last.createdAt.toISOString(), last.id]);
  }
}
