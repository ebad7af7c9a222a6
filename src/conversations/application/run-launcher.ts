import { Injectable } from '@nestjs/common';
import type { RunnableAgent } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import type { ToolChoice } from '../../models/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import type { ResumeInput } from '../domain/approval.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { SentMessage } from '../domain/new-thread.js';
import { RunNotStarted } from '../domain/run.js';
import { NO_OPTIONS, NOTHING_USED, resumedOptions, type RunOptions } from '../domain/run-options.js';
import type { RunSession } from '../domain/session-turns.js';
import type { AttachedFiles } from '../engine/attached-files.js';
import type { NewRun } from '../persistence/new-run.js';
import type { StartedRun } from '../persistence/run.repository.js';
import type { CallerSpan, RunContext, UserContext, Widget } from '../ports/index.js';
import { LateStarts } from './late-starts.js';
import { RunReconciler } from './run-reconciler.js';
import { type ActiveRun, RunSupervisor } from './run-supervisor.js';
import { UserKeys } from './user-keys.js';

export interface RunRequest {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
  /** The caller's instructions, the last part of the system prompt. */
  readonly callerPrompt?: string;
  /** Ignored, like the user of `session`, for a run with `resumeInput`, which has its own user. */
  readonly userContext: UserContext | null;
  readonly callerSpan?: CallerSpan | null;
  /** Of the session pass. Its user takes precedence over `userContext` for memories. */
  readonly session?: RunSession | undefined;
  readonly widget?: Widget | undefined;
  readonly nonInteractive?: boolean;
  /** Whether the model's reasoning is requested and streamed. */
  readonly showReasoning: boolean;
  readonly options?: RunOptions;
  /** Binds the first answer of the model alone. */
  readonly toolChoice?: ToolChoice;
  readonly idempotency?: IdempotentRequest;
  /**
   * The signal aborts when the caller disconnects. It ends the fetching of attachments, and the waiting for a run of
   * another process. A function, since most runs do neither and an unused signal would take memory until the stream
   * ends.
   */
  readonly disconnected?: () => AbortSignal;
}

/** What a run answers: a message with its files, what the previous run waits for, or the end of a sent history. */
export interface RunInput {
  readonly threadId: string;
  readonly userMessage: NewRun['userMessage'] & RunContext['userMessage'];
  /** The message's files. The run releases them at its end; the launcher when no run starts. */
  readonly attached: AttachedFiles;
  readonly resumeInput?: ResumeInput;
  /** The sent history of a thread that is created with the run. */
  readonly sentHistory?: readonly SentMessage[];
}

interface PreparedRun {
  readonly run: NewRun;
  /** Executes the run, which has been stored. */
  readonly execute: (started: StartedRun) => ActiveRun;
}

/** Stores a run with its input, then starts it. */
@Injectable()
export class RunLauncher {
  constructor(
    private readonly supervisor: RunSupervisor,
    private readonly shutdown: ShutdownState,
    private readonly users: UserKeys,
    private readonly clock: Clock,
    private readonly reconciler: RunReconciler,
    private readonly lateStarts: LateStarts,
  ) {}

  /** @throws RunNotStarted, and what `store` throws */
  async launch(request: RunRequest, input: RunInput, store: (run: NewRun) => Promise<StartedRun>): Promise<ActiveRun> {
    let prepared: PreparedRun | undefined;
    try {
      prepared = await this.prepare(request, input);
      return prepared.execute(await store(prepared.run));
    } catch (error) {
      if (!prepared || !this.mayBeginLate(error, prepared, input)) input.attached.release();
      throw error;
    }
  }

  /** @returns whether the run keeps its files, since it begins when it is found */
  private mayBeginLate(error: unknown, { run, execute }: PreparedRun, { attached }: RunInput): boolean {
    if (!(error instanceof DatabaseUnavailable) || !error.mayHaveExecuted) return false;
    const start = { execute, giveUp: () => attached.release() };
    if (run.idempotency && this.lateStarts.expect(run.id, start)) return true;
    this.reconciler.startFailed(run.id);
    return false;
  }

  private async prepare(
    request: RunRequest,
    { threadId, userMessage, attached, resumeInput, sentHistory = [] }: RunInput,
  ): Promise<PreparedRun> {
    const { organizationId, agent, session = null, callerSpan = null, widget = null, idempotency } = request;
    const { callerPrompt, showReasoning, nonInteractive = false, options = NO_OPTIONS, toolChoice } = request;
    const continuation = resumeInput?.continuation;
    const user = resumeInput?.user ?? { userContext: request.userContext, session };
    const { userContext } = user;
    const userKey = await this.users.ofRun(organizationId, user);
    // The process may have begun to stop while the attachments were read.
    if (this.shutdown.isStopping) throw new RunNotStarted('stopping');
    const { type: provider, model, useOwnApiKey } = agent.provider;
    const stopwatch = this.clock.stopwatch();
    const runId = newId();
    const messageId = newId();
    const run = {
      ...{ id: runId, messageId, threadId, userMessage, resumeInput, userContext, userKey, idempotency },
      sessionId: session?.id ?? null,
      createdAt: stopwatch.startedAt,
      model: { provider, model, useOwnApiKey },
    };
    const execute = ({ channel, isFirstRun, revision }: StartedRun): ActiveRun =>
      this.supervisor.launch(
        {
          ...{ organizationId, agent, threadId, runId, messageId, channel, userMessage, attached },
          // Without a message the run continues the thread's last exchange.
          ...{ decisions: resumeInput?.decisions ?? (userMessage ? null : []), sentHistory: [...sentHistory] },
          ...{ userContext, userKey, callerSpan, widget, callerPrompt },
          ...{ isFirstRun, nonInteractive, showReasoning, stopwatch },
          options: continuation ? resumedOptions(continuation.options, options) : options,
          usedBefore: continuation?.used ?? NOTHING_USED,
          toolChoice,
        },
        revision,
      );
    return { run, execute };
  }
}
