import { Injectable } from '@nestjs/common';
import type { RunnableAgent } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import type { ResumeInput } from '../domain/approval.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { SentMessage } from '../domain/new-thread.js';
import type { RunSession } from '../domain/session-turns.js';
import type { AttachedFiles } from '../engine/attached-files.js';
import { RunOwner } from '../engine/run-owner.js';
import type { NewRun } from '../persistence/new-run.js';
import type { StartResult } from '../persistence/run.repository.js';
import type { CallerSpan, RunContext, UserContext, Widget } from '../ports/index.js';
import { type ActiveRun, RunSupervisor } from './run-supervisor.js';
import { UserKeys } from './user-keys.js';

/** What every request for a run says, whatever the run answers. */
export interface RunRequest {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
  /** Put after everything else of the system prompt. */
  readonly callerPrompt?: string;
  /** Ignored for a run with `resumeInput`, which belongs to the user of the run that asked; so is the user of `session`. */
  readonly userContext: UserContext | null;
  /** The span of the caller's trace that becomes the parent of the run's span. */
  readonly callerSpan?: CallerSpan | null;
  /** Of the pass that the request is made with; it says whose memories the run has, whatever `userContext` says. */
  readonly session?: RunSession | undefined;
  /** The widget that the caller says it is. */
  readonly widget?: Widget | undefined;
  /** Nobody can be asked to approve a tool call. */
  readonly nonInteractive?: boolean;
  /** Whether the model's thinking is asked for and put on the stream. */
  readonly showReasoning: boolean;
  /** Makes a repeat of the request join the run of the first one. */
  readonly idempotency?: IdempotentRequest;
  /**
   * Aborted when the caller leaves: what is done before the message is stored ends then, and so does waiting for the
   * run of another process. Most runs do neither, and a signal that nobody listens to is memory that a stream holds
   * to its end.
   */
  readonly disconnected?: () => AbortSignal;
}

/** What one run answers: a message with its files, or what the run before has asked. */
export interface RunInput {
  readonly threadId: string;
  readonly userMessage: NewRun['userMessage'] & RunContext['userMessage'];
  /** Of the message; the run releases them at its end, and the launcher where no run begins. */
  readonly attached: AttachedFiles;
  readonly resumeInput?: ResumeInput;
  /** The history that the request sent, for a thread that is made with the run. */
  readonly sentHistory?: readonly SentMessage[];
}

export type Refusal = Extract<StartResult, { started: false }>['because'] | 'stopping';

export type LaunchResult =
  { readonly started: true; readonly run: ActiveRun } | { readonly started: false; readonly because: Refusal };

/** Stores a run with what it answers, then lets it begin. */
@Injectable()
export class RunLauncher {
  constructor(
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly shutdown: ShutdownState,
    private readonly users: UserKeys,
    private readonly clock: Clock,
  ) {}

  /** @param store stores the run and what it answers, or says why not */
  async launch(
    request: RunRequest,
    { threadId, userMessage, attached, resumeInput, sentHistory = [] }: RunInput,
    store: (run: NewRun) => Promise<StartResult>,
  ): Promise<LaunchResult> {
    const { organizationId, agent, session = null, callerSpan = null, widget = null } = request;
    const { callerPrompt, showReasoning, nonInteractive = false } = request;
    const user = resumeInput?.user ?? { userContext: request.userContext, session };
    const { userContext } = user;
    const release = (error: unknown): never => {
      attached.release();
      throw error;
    };
    const userKey = await this.users.ofRun(organizationId, user).catch(release);
    // Reading attachments takes its time, in which the process may have been told to stop.
    if (this.shutdown.isStopping) return refused('stopping', attached);
    const { type: provider, model, useOwnApiKey } = agent.provider;
    const stopwatch = this.clock.stopwatch();
    const runId = newId();
    const messageId = newId();
    const started = await store({
      ...{ id: runId, messageId, threadId, userMessage, resumeInput, userContext, userKey },
      sessionId: session?.id ?? null,
      ownerId: this.owner.id,
      createdAt: stopwatch.startedAt,
      model: { provider, model, useOwnApiKey },
      idempotency: request.idempotency,
    }).catch(release);
    if (!started.started) return refused(started.because, attached);
    const { channel, isFirstRun, revision } = started;
    const run = this.supervisor.launch(
      {
        ...{ organizationId, agent, threadId, runId, messageId, channel, userMessage, attached },
        ...{ decisions: resumeInput?.decisions ?? null, sentHistory: [...sentHistory] },
        ...{ userContext, userKey, callerSpan, widget, callerPrompt },
        ...{ isFirstRun, nonInteractive, showReasoning, stopwatch },
      },
      revision,
    );
    return { started: true, run };
  }
}

function refused(because: Refusal, attached: AttachedFiles): LaunchResult {
  attached.release();
  return { started: false, because };
}
