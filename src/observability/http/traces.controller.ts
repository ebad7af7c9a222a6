import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, OrganizationDirectory, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { ReadReactions } from '../../conversations/index.js';
import { SessionStartOutcomes } from '../../hooks/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { ApiErrors, UuidParam } from '../../platform/http/index.js';
import { ExportTraces } from '../application/export-traces.js';
import { ReadTraces } from '../application/read-traces.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import { TraceAccessGuard } from './trace-access.guard.js';
import {
  type ExportedTraceResponse,
  ExportTracesQuery,
  ListTracesQuery,
  TraceDetailResponse,
  TraceExportResponse,
  TraceListResponse,
  type TraceSummaryResponse,
} from './traces.dto.js';

/** Unlike the refusals of other budgets, this one has no code. */
const BUDGET_USED_UP = new DomainError(
  'rate_limited',
  'Too many requests for traces; wait as long as Retry-After says.',
);

@ApiTags('Traces')
@Controller('v1/agents/:agentId')
@UseGuards(TraceAccessGuard)
export class TracesController {
  constructor(
    private readonly traces: ReadTraces,
    private readonly exportTraces: ExportTraces,
    private readonly reactions: ReadReactions,
    private readonly organizations: OrganizationDirectory,
    private readonly sessionStarts: SessionStartOutcomes,
  ) {}

  @Get('traces')
  @Access({ scope: 'none', resource: pathResource('assistant', 'agentId'), rateLimit: 'traces' })
  @ApiOperation({
    operationId: 'listTraces',
    summary: 'List the traces of an agent, newest first',
    description:
      'Traces are kept for 90 days, and deleted with their thread. Shares a limit of 30 requests per minute ' +
      'and organization with the trace of a message. A page after the last one is empty.',
  })
  @ApiOkResponse({ type: TraceListResponse })
  @ApiErrors(404, BUDGET_USED_UP)
  async list(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() query: ListTracesQuery,
  ): Promise<TraceListResponse> {
    const { page, limit, sessionId, fromTimestamp, toTimestamp } = query;
    const { traces, totalItems } = await this.traces.list(caller.organizationId, agentId, {
      page,
      limit,
      threadId: sessionId ?? null,
      from: fromTimestamp === undefined ? null : new Date(fromTimestamp),
      to: toTimestamp === undefined ? null : new Date(toTimestamp),
    });
    return {
      traces: traces.map(summaryView),
      meta: { page, limit, totalItems, totalPages: Math.ceil(totalItems / limit) },
    };
  }

  @Get('traces/export')
  @Access({ scope: 'none', resource: pathResource('assistant', 'agentId'), rateLimit: 'traceExport' })
  @ApiOperation({
    operationId: 'exportTraces',
    summary: 'Export the whole traces of an agent, newest first',
    description:
      'Pass `meta.cursor` back until it is null. An export keeps the range of its first page and has every trace that was ' +
      'exportable then exactly once. A trace becomes exportable 2 to 3 minutes after its run has ended: for extracts that can be ' +
      'repeated, use a `toTimestamp` at least 15 minutes in the past. Reactions, `threadId` and `sessionStartHook` are not part ' +
      'of exports. 20 requests per minute and organization.',
  })
  @ApiOkResponse({ type: TraceExportResponse })
  @ApiErrors(404, BUDGET_USED_UP)
  async export(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { fromTimestamp, toTimestamp, cursor }: ExportTracesQuery,
  ): Promise<TraceExportResponse> {
    const page = await this.exportTraces.execute(caller.organizationId, agentId, {
      from: fromTimestamp === undefined ? undefined : new Date(fromTimestamp),
      to: toTimestamp === undefined ? undefined : new Date(toTimestamp),
      cursor,
    });
    return { traces: page.traces.map(exportView), meta: { cursor: page.cursor } };
  }

  @Get('traces/:traceId')
  @Access({ scope: 'none', resource: pathResource('assistant', 'agentId') })
  @ApiOperation({ operationId: 'getTrace', summary: 'Read a trace' })
  @ApiOkResponse({ type: TraceDetailResponse })
  @ApiErrors(404)
  async read(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('traceId') traceId: string,
  ): Promise<TraceDetailResponse> {
    return this.detail(caller, await this.traces.byId(caller.organizationId, agentId, traceId));
  }

  @Get('messages/:messageId/trace')
  @Access({ scope: 'none', resource: pathResource('assistant', 'agentId'), rateLimit: 'traces' })
  @ApiOperation({
    operationId: 'getMessageTrace',
    summary: 'Read the trace of an assistant message',
    description:
      "Answers 404 when the message is another agent's, was not written by a run, or its trace is older than " +
      '90 days. Shares a limit of 30 requests per minute and organization with the list of traces.',
  })
  @ApiOkResponse({ type: TraceDetailResponse })
  @ApiErrors(404, BUDGET_USED_UP)
  async readByMessage(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @UuidParam('messageId') messageId: string,
  ): Promise<TraceDetailResponse> {
    return this.detail(caller, await this.traces.byMessage(caller.organizationId, agentId, messageId));
  }

  private async detail(caller: ApiKeyPrincipal, trace: Trace): Promise<TraceDetailResponse> {
    const { organizationId } = caller;
    const organization = await this.organizations.find(organizationId);
    const hasSessionStartHooks = organization?.features.has('session_start_hook') ?? false;
    const [reactions, sessionStart] = await Promise.all([
      trace.messageId === null ? {} : this.reactions.of(organizationId, trace.messageId),
      hasSessionStartHooks ? this.sessionStarts.of(organizationId, trace.threadId) : undefined,
    ]);
    // Organizations without the feature have no such field.
    return {
      ...wholeView(trace),
      reactions,
      ...(sessionStart === undefined ? {} : { sessionStartHook: sessionStart }),
    };
  }
}

function summaryView(trace: TraceSummary): TraceSummaryResponse {
  return { ...trace, startedAt: trace.startedAt.toISOString() };
}

function exportView(trace: Trace): ExportedTraceResponse {
  const { threadId: _threadId, ...exported } = wholeView(trace);
  return exported;
}

function wholeView({ userContext, ...trace }: Trace): Omit<TraceDetailResponse, 'reactions' | 'sessionStartHook'> {
  return { ...trace, startedAt: trace.startedAt.toISOString(), ...(userContext === null ? {} : { userContext }) };
}
