import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, type ApiKeyPrincipal } from '../../access/index.js';
import { ApiErrors } from '../../platform/http/index.js';
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
    summary: 'List what was used by the month, newest first',
    description:
      'Every calendar month (UTC) since the organization began, those without use too. A period includes what held at ' +
      'its end: a change within the month is seen at once, and past months keep what they included.',
  })
  @ApiOkResponse({ type: PeriodListResponse })
  @ApiErrors(400, 401, 403)
  async periods(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Query() { cursor, limit }: ListPeriodsQuery,
  ): Promise<PeriodListResponse> {
    const { periods, nextCursor } = await this.listPeriods.execute(organizationId, cursor, limit);
    return { periods: periods.map(periodView), nextCursor };
  }

  @Get('entries')
  @Access({ scope: 'none', level: 'organization' })
  @ApiOperation({
    operationId: 'listCreditEntries',
    summary: 'List what each run used, newest first',
    description:
      'One entry for each run that has ended, however it did. Entries stay when the thread or the agent is deleted. ' +
      'Runs on an agent’s own API key cost nothing.',
  })
  @ApiOkResponse({ type: EntryListResponse })
  @ApiErrors(400, 401, 403)
  async entries(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Query() query: ListEntriesQuery,
  ): Promise<EntryListResponse> {
    const { cursor, limit, periodId } = query;
    const { entries, nextCursor } = await this.listEntries.execute(organizationId, { cursor, limit, periodId });
    return { entries: entries.map(entryView), nextCursor };
  }
}

function periodView({ id, startsAt, endsAt, creditsUsed, creditsIncluded }: Period): PeriodResponse {
  return { id, startsAt: startsAt.toISOString(), endsAt: endsAt.toISOString(), creditsUsed, creditsIncluded };
}

function entryView({ id, createdAt, agentId, threadId, ...usage }: CreditEntry): EntryResponse {
  const { provider, model, inputTokens, outputTokens, credits } = usage;
  return {
    ...{
      id,
      createdAt: createdAt.toISOString(),
      assistant_id: agentId,
      thread_id: threadId,
      runId: threadId === null ? null : id,
    },
    ...{ provider, model, inputTokens, outputTokens, credits },
  };
}
