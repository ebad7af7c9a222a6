import { Body, Controller, Get, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiHeader, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Access,
  AnyCaller,
  type ApiKeyPrincipal,
  Caller,
  ForbiddenForSessionPass,
  pathResource,
  type Principal,
  Resource,
} from '../../access/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import {
  ApiCauses,
  ApiErrors,
  ApiExample,
  disconnectSignal,
  EXAMPLE_IDS,
  LargeBody,
  addRequestFacts,
  UuidParam,
} from '../../platform/http/index.js';
import { CancelRun } from '../application/cancel-run.js';
import { type CurrentRun, JoinRun } from '../application/join-run.js';
import type { RunRequest } from '../application/run-launcher.js';
import type { ActiveRun } from '../application/run-supervisor.js';
import type { CallerSpan, UserContext, Widget } from '../ports/index.js';
import { ResumeRun } from '../application/resume-run.js';
import { StartRun } from '../application/start-run.js';
import type { ThreadReference } from '../application/thread-lookup.js';
import { APPROVAL_HOURS } from '../domain/approval.js';
import { runFailed, threadBusy } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import { NO_OPTIONS, type RunOptions } from '../domain/run-options.js';
import { readClientTools } from './client-tools.dto.js';
import { checkSaysSomething } from './content-limits.js';
import type { RunReference } from '../domain/run.js';
import { interruptViews, messageView, runView } from '../engine/presenters.js';
import { ApiIdempotencyKey, Idempotency } from './idempotency-key.js';
import { RunResultResponse } from './messages.dto.js';
import { ApiRunEvents } from './run-events.dto.js';
import { RunStreams } from './run-streams.js';
import { readResponseFormat } from './response-format.dto.js';
import { CreateRunBody, readAnswers, readPosition, RejoinQuery, StreamQuery, StreamRunBody } from './runs.dto.js';
import { ApiThreadHeader } from './thread-header.js';
import { ApiTraceParent, TraceParent } from './trace-parent.js';

type RunBody = Pick<CreateRunBody, 'message' | 'resume' | 'tools' | 'limits' | 'responseFormat' | 'config' | 'widget'>;

/** Fields that a browser with a session pass must not set. */
const FIELDS_OF_SERVERS = ['background', 'tools', 'limits', 'responseFormat'] as const;
const ANSWERS_OF_SERVERS = ['input', 'result'] as const;

const SAY_HELLO = {
  'Send a message': { message: { role: 'user', content: 'Hello!' }, config: { userContext: { userId: 'user-42' } } },
};
const RUN_IN_BACKGROUND = {
  'Do not wait for the reply': { message: { role: 'user', content: 'Hello!' }, background: true },
};
const ANSWER_APPROVALS = {
  'Answer the last run’s requests for approval': {
    resume: [{ interruptId: EXAMPLE_IDS.interrupt, status: 'resolved', payload: { approved: true } }],
  },
};

const APPROVALS =
  'Where calls of tools need approval, or are of the caller’s own `tools`, the run ends as `requires_action` with one ' +
  `interrupt a call; the next run’s \`resume\` answers all of them within ${APPROVAL_HOURS} hours, and a \`message\` declines them all.`;

/** The statement that starts a run, and the one that reads it, refuse a deleted thread. */
const THREAD_OF_RUN = { ...pathResource('thread', 'threadId'), checkedByHandler: true } as const;

@ApiTags('Runs')
@Controller('v1/threads/:threadId/runs')
export class RunsController {
  constructor(
    private readonly startRun: StartRun,
    private readonly resumeRun: ResumeRun,
    private readonly joinRun: JoinRun,
    private readonly cancelRun: CancelRun,
    private readonly streams: RunStreams,
  ) {}

  @Post()
  @HttpCode(200)
  @LargeBody()
  @Access({ scope: 'chat', resource: THREAD_OF_RUN, rateLimit: 'chat', sessionPass: true })
  @ApiExample({ bodies: { ...SAY_HELLO, ...ANSWER_APPROVALS, ...RUN_IN_BACKGROUND } })
  @ApiOperation({
    operationId: 'createRun',
    summary: 'Send a message and wait for the reply',
    description:
      `${APPROVALS} With \`background: true\` the answer is \`202\` with the run once it is stored, and the run needs no ` +
      'connection: read it until its status is not `running`, or join its stream.',
  })
  @ApiIdempotencyKey()
  @ApiTraceParent()
  @ApiThreadHeader()
  @ApiOkResponse({ type: RunResultResponse })
  @ApiAcceptedResponse({
    type: RunResultResponse,
    description: 'With `background`: the run as it is stored now, with `message: null` and no interrupts.',
  })
  @ApiErrors(404, threadBusy(), 502, 504)
  @ApiCauses(422, 'unprocessable_entity')
  async create(
    @AnyCaller() caller: Principal,
    @Resource('thread') thread: ThreadReference,
    @Body() body: CreateRunBody,
    @Idempotency('run') idempotency: IdempotentRequest | undefined,
    @TraceParent() callerSpan: CallerSpan | null,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunResultResponse> {
    checkOneOf(body, ['message', 'resume']);
    checkBackground(body);
    const active = await this.start(caller, thread, body, {
      ...{ showReasoning: false, callerSpan, idempotency },
      disconnected: () => disconnectSignal(reply),
    });
    addRequestFacts(reply.request, { runId: active.runId });
    if (body.background === true) {
      const { run } = await this.joinRun.read(active);
      void reply.status(202);
      return { run: runView(run), message: null, interrupts: [] };
    }
    if (body.onDisconnect === 'cancel') cancelOnDisconnect(active, reply);
    const { failure, ...ended } = await active.ended;
    if (failure) throw runFailed(failure.error, failure.facts);
    return resultView(thread, ended);
  }

  @Post('stream')
  @HttpCode(200)
  @LargeBody()
  @Access({ scope: 'chat', resource: THREAD_OF_RUN, rateLimit: 'chat', sessionPass: true })
  @ApiExample({
    bodies: {
      ...SAY_HELLO,
      ...ANSWER_APPROVALS,
      'Continue the stream of a run': { rejoin: { runId: EXAMPLE_IDS.run, startingAfter: 0 } },
      'End a run under way': { cancel: { runId: EXAMPLE_IDS.run, startingAfter: 0 } },
    },
  })
  @ApiOperation({
    operationId: 'streamRun',
    summary: 'Send a message and stream the reply',
    description:
      'Server-sent events of the AG-UI 1.0 protocol, each with its number in the run as `id`. The stream always ' +
      'ends with `RUN_FINISHED` or `RUN_ERROR`; errors known before the first event are answered as JSON. With ' +
      '`rejoin` instead of `message` it continues the stream of a run, and with `cancel` it ends that run too; neither ' +
      `starts a run. ${APPROVALS}`,
  })
  @ApiIdempotencyKey()
  @ApiTraceParent()
  @ApiThreadHeader()
  @ApiRunEvents()
  @ApiErrors(404, threadBusy(), 410)
  @ApiCauses(422, 'unprocessable_entity')
  async stream(
    @AnyCaller() caller: Principal,
    @Resource('thread') thread: ThreadReference,
    @Query() { reasoning: showReasoning }: StreamQuery,
    @Body() body: StreamRunBody,
    @Idempotency('run-stream') idempotency: IdempotentRequest | undefined,
    @TraceParent() callerSpan: CallerSpan | null,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    checkOneOf(body, ['message', 'resume', 'rejoin', 'cancel']);
    if (caller.kind === 'session_pass') checkFieldsOfServers(body);
    const joined = body.rejoin ?? body.cancel;
    if (joined) {
      const reference = referenceOf(caller, thread, joined.runId);
      if (body.cancel) await this.cancelRun.request(reference);
      await this.rejoin(reference, joined.startingAfter ?? 0, showReasoning, reply);
      return;
    }
    const active = await this.start(caller, thread, body, {
      ...{ showReasoning, callerSpan, idempotency },
      disconnected: () => disconnectSignal(reply),
    });
    addRequestFacts(reply.request, { runId: active.runId });
    if (body.onDisconnect === 'cancel') cancelOnDisconnect(active, reply);
    await this.streams.send(reply, showReasoning, (closed) => this.joinRun.wholeRun(active, closed));
  }

  @Get(':runId')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiOperation({
    operationId: 'getRun',
    summary: 'Read a run with the reply it wrote',
    description:
      '`interrupts` are the requests for approval that can still be answered, for a caller that has lost the response of ' +
      'the run. It is empty once a run has answered or declined them, and when they have expired.',
  })
  @ApiThreadHeader()
  @ApiOkResponse({ type: RunResultResponse })
  @ApiErrors(404)
  async read(
    @Caller() caller: ApiKeyPrincipal,
    @Resource('thread') thread: ThreadReference,
    @UuidParam('runId') runId: string,
    @Req() request: FastifyRequest,
  ): Promise<RunResultResponse> {
    const current = await this.joinRun.read(referenceOf(caller, thread, runId));
    addRequestFacts(request, { runId });
    return resultView(thread, current);
  }

  @Post(':runId/cancel')
  @HttpCode(200)
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiOperation({
    operationId: 'cancelRun',
    summary: 'End a run under way',
    description:
      'Answers the run as it ended; the text so far is kept. A run that has ended is answered as it is read.',
  })
  @ApiThreadHeader()
  @ApiOkResponse({ type: RunResultResponse })
  @ApiErrors(404)
  async cancel(
    @Caller() caller: ApiKeyPrincipal,
    @Resource('thread') thread: ThreadReference,
    @UuidParam('runId') runId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RunResultResponse> {
    const reference = referenceOf(caller, thread, runId);
    const current = await this.cancelRun.execute(reference, () => disconnectSignal(reply));
    addRequestFacts(reply.request, { runId });
    return resultView(thread, current);
  }

  @Get(':runId/stream')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiOperation({
    operationId: 'rejoinRun',
    summary: 'Join the stream of a run under way, or of one that ended within 5 minutes',
    description: 'From the event after `Last-Event-ID` or `starting_after` on, with no gap and no repeat; later `410`.',
  })
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'Number of the last event that was read.' })
  @ApiThreadHeader()
  @ApiRunEvents()
  @ApiErrors(404, 410)
  async rejoinStream(
    @Caller() caller: ApiKeyPrincipal,
    @Resource('thread') thread: ThreadReference,
    @UuidParam('runId') runId: string,
    @Query() { reasoning, starting_after: startingAfter }: RejoinQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const after = startingAfter ?? readPosition(request.headers['last-event-id']) ?? 0;
    await this.rejoin(referenceOf(caller, thread, runId), after, reasoning, reply);
  }

  private start(
    caller: Principal,
    thread: ThreadReference,
    body: RunBody,
    options: Pick<RunRequest, 'showReasoning' | 'callerSpan' | 'idempotency' | 'disconnected'>,
  ): Promise<ActiveRun> {
    const { organizationId } = caller;
    const { message, resume, config, widget } = body;
    const userContext = config?.userContext ?? null;
    if (caller.kind === 'session_pass') checkVisitor(userContext, body);
    const requested = { ...visitorOf(caller, widget), ...options, options: readOptions(body) };
    const run = { organizationId, thread, userContext, ...requested };
    if (!message)
      return this.resumeRun.execute({
        ...run,
        answers: readAnswers(resume ?? []),
        userContextField: 'body/config/userContext',
      });
    checkSaysSomething(message.content, message.attachments ?? [], 'body/message/content');
    return this.startRun.execute({
      ...run,
      text: message.content,
      clientId: message.id,
      attachments: message.attachments,
    });
  }

  /** An unknown run and expired events are refused before the stream begins. */
  private async rejoin(
    reference: RunReference,
    after: number,
    showReasoning: boolean,
    reply: FastifyReply,
  ): Promise<void> {
    const closed = new AbortController();
    reply.raw.once('close', () => {
      closed.abort();
    });
    const entries = await this.joinRun.events(reference, after, closed.signal);
    addRequestFacts(reply.request, { runId: reference.runId });
    await this.streams.send(reply, showReasoning, () => Promise.resolve(entries));
  }
}

function readOptions({ tools, limits, responseFormat }: RunBody): RunOptions {
  if (tools === undefined && limits === undefined && responseFormat === undefined) return NO_OPTIONS;
  return {
    ...(tools ? { clientTools: readClientTools(tools) } : {}),
    ...(limits ? { limits } : {}),
    ...readResponseFormat(responseFormat),
  };
}

function resultView({ agent }: ThreadReference, { run, message }: CurrentRun): RunResultResponse {
  const view = message === null ? null : messageView(message, agent.toolProgress);
  return { run: runView(run), message: view, interrupts: interruptViews(run) };
}

/** A widget without a version counts as too old for every component. */
const UNKNOWN_WIDGET: Widget = { version: '0' };

/** With a session pass the caller is a widget, and the session's user decides on the run's memories. */
function visitorOf(caller: Principal, widget: Widget | undefined): Pick<RunRequest, 'session' | 'widget'> {
  if (caller.kind === 'api_key') return { widget };
  return { session: { id: caller.sessionId, userKey: caller.userKey }, widget: widget ?? UNKNOWN_WIDGET };
}

/**
 * A `userContext` scopes tools and retrievals, and a browser could claim any user. Attachments need a server that knows
 * the sender.
 * @throws ForbiddenForSessionPass when a run with a pass has either, or a field of servers
 */
function checkVisitor(userContext: UserContext | null, body: RunBody): void {
  checkFieldsOfServers(body);
  if (userContext !== null) {
    throw new ForbiddenForSessionPass(
      'A run with a session pass takes no config.userContext. Its user is the endUser of the session; for any other context relay the run through your server, with an API key.',
    );
  }
  if ((body.message?.attachments ?? []).length > 0) {
    throw new ForbiddenForSessionPass(
      'A message with a session pass takes no attachments (message.attachments). Relay runs with attachments through your server, with an API key.',
    );
  }
}

/**
 * A visitor approves what was shown: other arguments, and results of tools that the visitor does not have, would let a
 * browser decide what the agent does and reads.
 */
function checkFieldsOfServers(body: object): void {
  const sent = body as Readonly<Record<string, unknown>> & Pick<RunBody, 'resume'>;
  const payloads = (sent.resume ?? []).map(({ payload }) => payload);
  const refused =
    FIELDS_OF_SERVERS.find((field) => sent[field] !== undefined && sent[field] !== false) ??
    ANSWERS_OF_SERVERS.find((field) => payloads.some((payload) => payload?.[field] !== undefined));
  if (refused === undefined) return;
  throw new ForbiddenForSessionPass(
    `A run with a session pass takes no ${refused}. Relay the run through your server, with an API key.`,
  );
}

/** A background run has no caller that could disconnect. @throws ValidationFailed */
function checkBackground({ background, onDisconnect }: CreateRunBody): void {
  if (background === true && onDisconnect === 'cancel') {
    throw new ValidationFailed(
      'body/onDisconnect must not be cancel with background: the run needs no connection. Cancel it by its id',
    );
  }
}

/** @throws ValidationFailed unless the body has exactly one of the fields */
function checkOneOf(body: object, fields: readonly string[]): void {
  const sent = fields.filter((field) => (body as Readonly<Record<string, unknown>>)[field] !== undefined);
  if (sent.length === 1) return;
  throw new ValidationFailed(
    `body must have exactly one of ${fields.slice(0, -1).join(', ')} and ${fields.at(-1) ?? ''}`,
  );
}

function referenceOf({ organizationId }: Principal, thread: ThreadReference, runId: string): RunReference {
  return { organizationId, threadId: thread.id, runId };
}

function cancelOnDisconnect(active: ActiveRun, reply: FastifyReply): void {
  const { raw } = reply;
  const onClose = (): void => {
    if (!raw.writableFinished) active.abort('caller_disconnected');
  };
  raw.once('close', onClose);
  // The caller may have disconnected while the run was being stored.
  if (raw.destroyed) onClose();
}
