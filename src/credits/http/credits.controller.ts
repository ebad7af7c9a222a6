import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, type ApiKeyPrincipal } from '../../access/index.js';
import { ENTRIES_KEPT_MONTHS } from '../limits.js';
import { ListEntries } from '../application/list-entries.js';
import { ListPeriods } from '../application/list-periods.js';
import type { CreditEntry } from '../domain/entry.js';
import type { Period } from '../domain/period.js';
import {
  EntryListResponse,
  type EntryResponse,
  ListEntriesQuery,
  ListPeriodsQuery,
  PeriodListResponse,
  type PeriodResponse,
} from './credits.dto.js';

@ApiTags('Credits')
@Controller('v1/credits/usage')
export class CreditsController {
  constructor(
    private readonly listPeriods: ListPeriods,
    private readonly listEntries: ListEntries,
  ) {}

  @Get('periods')
  @Access({ scope: 'none', level: 'organization' })
  @ApiOperation({
    operationId: 'listCreditPeriods',
    summary: 'List usage by month, newest first',
    description:
      'Every calendar month (UTC) since the organization was created, including months without use. The included credits are those ' +
      'set at the end of the month: a change applies to the current month at once and never to past months.',
  })
  @ApiOkResponse({ type: PeriodListResponse })
  async periods(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Query() { cursor, limit }: ListPeriodsQuery,
  ): Promise<PeriodListResponse> {
    const { items, nextCursor } = await this.listPeriods.execute(organizationId, cursor, limit);
    return { periods: items.map(toPeriod), nextCursor };
  }

  @Get('entries')
  @Access({ scope: 'none', level: 'organization' })
  @ApiOperation({
    operationId: 'listCreditEntries',
    summary: 'List the usage of each run, newest first',
    description:
      'One entry for each run that has ended, with any status. Entries stay when the thread or the agent is deleted, ' +
      `for ${String(ENTRIES_KEPT_MONTHS)} months; the sums of months stay for ever. ` +
      'Runs on an agent’s own API key cost nothing.',
  })
  @ApiOkResponse({ type: EntryListResponse })
  async entries(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Query() query: ListEntriesQuery,
  ): Promise<EntryListResponse> {
    const { items, nextCursor } = await this.listEntries.execute(organizationId, query);
    return { entries: items.map(toEntry), nextCursor };
  }
}

function toPeriod({ id, startsAt, endsAt, creditsUsed, creditsIncluded }: Period): PeriodResponse {
  return { id, startsAt: startsAt.toISOString(), endsAt: endsAt.toISOString(), creditsUsed, creditsIncluded };
}

function toEntry({ id, createdAt, agentId, threadId, ...usage }: CreditEntry): EntryResponse {
  const { provider, model, ...tokensAndCredits } = usage;
  return {
    ...{ id, createdAt: createdAt.toISOString(), assistant_id: agentId, thread_id: threadId },
    ...{ runId: threadId === null ? null : id, provider, model, ...tokensAndCredits },
  };
}
