import { Body, Controller, Post, Query, Res, UseFilters } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal, Resource } from '../../access/index.js';
import type { RunnableAgent } from '../../agents/index.js';
import {
  ApiCauses,
  ApiErrors,
  ApiExample,
  disconnectSignal,
  LargeBody,
  addRequestFacts,
  THREAD_ID_HEADER,
} from '../../platform/http/index.js';
import type { RunEntries } from '../application/follow-run.js';
import { JoinRun } from '../application/join-run.js';
import { RunAgUi } from '../application/run-ag-ui.js';
import type { ActiveRun } from '../application/run-supervisor.js';
import { threadBusy } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { CallerSpan } from '../ports/index.js';
import { AG_UI_INPUT_SCHEMA, type AgUiRequest, readAgUiInput } from './ag-ui.input.js';
import { ApiIdempotencyKey, Idempotency } from './idempotency-key.js';
import { NameThreadOfRefusal } from './name-thread-of-refusal.js';
import { ApiRunEvents } from './run-events.dto.js';
import { RunStreams } from './run-streams.js';
import { StreamQuery } from './runs.dto.js';
import { ApiThreadHeader } from './thread-header.js';
import { ApiTraceParent, TraceParent } from './trace-parent.js';

/** The beginning of events that have the ids of run and thread. */
const HAS_RUN_IDS = /^\{"type":"RUN_(?:STARTED|FINISHED)"/;

@ApiTags('Runs')
@Controller('v1/agents/:agentId/ag-ui')
export class AgUiController {
  constructor(
    private readonly runAgUi: RunAgUi,
    private readonly joinRun: JoinRun,
    private readonly streams: RunStreams,
  ) {}

  @Post()
  @LargeBody()
  @UseFilters(NameThreadOfRefusal)
  @Access({ scope: 'chat', resource: pathResource('agent', 'agentId'), rateLimit: 'chat' })
  @ApiExample({
    body: {
      threadId: 'conversation-1',
      runId: 'run-1',
      messages: [{ id: 'message-1', role: 'user', content: 'Hello!' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: { userContext: { userId: 'user-42' } },
    },
  })
  @ApiOperation({
    operationId: 'runAgUi',
    summary: 'Run the agent for an AG-UI client',
    description:
      'Takes AG-UI’s own run input, so that any AG-UI front end works without glue, and streams its events as ' +
      '`runs/stream` does. `RUN_STARTED` and `RUN_FINISHED` carry the ids that the client sent; those of the service ' +
      'are in the `metadata` of `RUN_STARTED` (`threadId`, `runId`), in `x-thread-id` and in `result`. ' +
      'Errors known before the first event are answered as JSON.',
  })
  @ApiBody({ schema: AG_UI_INPUT_SCHEMA as never })
  @ApiIdempotencyKey()
  @ApiTraceParent()
  @ApiThreadHeader()
  @ApiRunEvents()
  @ApiErrors(404, threadBusy())
  @ApiCauses(422, 'unprocessable_entity')
  async run(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Resource('agent') agent: RunnableAgent,
    @Query() { reasoning: showReasoning }: StreamQuery,
    @Body() body: object,
    @Idempotency('ag_ui') idempotency: IdempotentRequest | undefined,
    @TraceParent() callerSpan: CallerSpan | null,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const input = readAgUiInput(body);
    const { threadId, conversation, options, answers, results, userContext, widget } = input;
    const onThread = (id: string): void => void reply.header(THREAD_ID_HEADER, id);
    const run = await this.runAgUi.execute({
      ...{ organizationId, agent, threadId, conversation, options, answers, results, userContext, callerSpan, widget },
      ...{ showReasoning, idempotency, disconnected: () => disconnectSignal(reply), onThread },
    });
    onThread(run.threadId);
    addRequestFacts(reply.request, { runId: run.runId });
    await this.streams.send(reply, showReasoning, async (closed) =>
      withClientIds(await this.joinRun.wholeRun(run, closed), run, input),
    );
  }
}

/** Replaces the ids of thread and run in the events by the client's ids. */
async function* withClientIds(entries: RunEntries, run: ActiveRun, input: AgUiRequest): RunEntries {
  for await (const batch of entries) {
    yield batch.map((entry) =>
      HAS_RUN_IDS.test(entry.data) ? { ...entry, data: withClientIdsIn(entry.data, run, input) } : entry,
    );
  }
}

function withClientIdsIn(data: string, run: ActiveRun, { threadId, runId }: AgUiRequest): string {
  const event = JSON.parse(data) as { readonly type: string };
  const metadata = { metadata: { threadId: run.threadId, runId: run.runId } };
  return JSON.stringify({ ...event, threadId, runId, ...(event.type === 'RUN_STARTED' ? metadata : {}) });
}
