import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, type ApiKeyPrincipal, Caller, pathResource, Resource } from '../../access/index.js';
import type { Page } from '../../platform/cursors/index.js';
import { ApiErrors, ApiExample, EXAMPLE_IDS } from '../../platform/http/index.js';
import { ListRuns } from '../application/list-runs.js';
import type { ThreadReference } from '../application/thread-lookup.js';
import type { Run } from '../domain/run.js';
import { interruptViews, runView } from '../engine/presenters.js';
import { ListRunsOfThreadQuery, ListRunsQuery, RunListResponse } from './run-lists.dto.js';
import { ApiThreadHeader } from './thread-header.js';

const WALK = 'Pass `nextCursor` back as `cursor` until it is null.';

@ApiTags('Runs')
@Controller('v1')
export class RunListsController {
  constructor(private readonly listRuns: ListRuns) {}

  @Get('runs')
  @Access({ scope: 'chat' })
  @ApiExample({ query: { assistant_id: EXAMPLE_IDS.agent, open: true } })
  @ApiOperation({
    operationId: 'listRuns',
    summary: 'List the runs of the organization, the newest first',
    description:
      `${WALK} With \`open=true\` the list is an inbox: each run has the calls that wait for an answer, and the thread to ` +
      'answer them on. A key with an allowlist sees the runs of its agents; another `assistant_id` is `403` ' +
      '`forbidden_by_agent_allowlist`.',
  })
  @ApiOkResponse({ type: RunListResponse })
  async list(
    @Caller() caller: ApiKeyPrincipal,
    @Query() { status, open, assistant_id: assistantId, createdAfter, cursor, limit }: ListRunsQuery,
  ): Promise<RunListResponse> {
    return listView(
      await this.listRuns.ofOrganization(caller, {
        ...{ statuses: status, open, assistantId, cursor, limit },
        createdAfter: createdAfter === undefined ? undefined : new Date(createdAfter),
      }),
    );
  }

  @Get('threads/:threadId/runs')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiOperation({
    operationId: 'listRunsOfThread',
    summary: 'List the runs of a thread, the newest first',
    description: WALK,
  })
  @ApiThreadHeader()
  @ApiOkResponse({ type: RunListResponse })
  @ApiErrors(404)
  async listOfThread(
    @Caller() caller: ApiKeyPrincipal,
    @Resource('thread') thread: ThreadReference,
    @Query() { status, open, cursor, limit }: ListRunsOfThreadQuery,
  ): Promise<RunListResponse> {
    return listView(await this.listRuns.ofThread(caller, thread.id, { statuses: status, open, cursor, limit }));
  }
}

function listView({ items, nextCursor }: Page<Run>): RunListResponse {
  return { runs: items.map((run) => Object.assign(runView(run), { interrupts: interruptViews(run) })), nextCursor };
}
