import { Injectable } from '@nestjs/common';
import { AgentDirectory, type RunnableAgent } from '../../agents/index.js';
import type { AttachmentReference } from '../../files/index.js';
import { ModelGateway, type ProviderType } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { DomainError } from '../../platform/errors/index.js';
import { newId } from '../../platform/ids/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import {
  agentAbsent,
  agentCannotRun,
  answeredMeanwhile,
  idempotencyMismatch,
  serviceStopping,
  threadBusy,
  threadNotFound,
} from '../domain/conversations.errors.js';
import type { ResumeInput } from '../domain/approval.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { NewThread } from '../domain/new-thread.js';
import { RunOwner } from '../engine/run-owner.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { NewThreadRepository } from '../persistence/new-thread.repository.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { type NewRun, RunRepository, type StartResult } from '../persistence/run.repository.js';
import type { UserContext } from '../ports/index.js';
import { AcceptAttachments, type AcceptedAttachments } from './accept-attachments.js';
import { JoinRun } from './join-run.js';
import { type ActiveRun, RunSupervisor } from './run-supervisor.js';
import type { ThreadReference } from './thread-lookup.js';

export interface StartRunCommand {
  readonly organizationId: string;
  readonly thread: ThreadReference;
  /** Makes `thread` together with the run. */
  readonly newThread?: NewThread;
  /** Put after everything else of the system prompt. */
  readonly callerPrompt?: string;
  readonly text: string;
  readonly attachments?: readonly AttachmentReference[];
  /**
   * Aborted when the caller leaves: what is done before the message is stored ends then, and so does waiting for the
   * run of another process. Most runs do neither, and a signal that nobody listens to is memory that a stream holds
   * to its end.
   */
  readonly disconnected?: () => AbortSignal;
  readonly userContext: UserContext | null;
  /** Nobody can be asked to approve a tool call. */
  readonly nonInteractive?: boolean;
  /** Whether the model's thinking is asked for and put on the stream. */
  readonly showReasoning: boolean;
  /** Makes a repeat of the request join the run of the first one. */
  readonly idempotency?: IdempotentRequest;
}

/** Goes on with what the thread's last run asked, in place of a message. */
export type ResumedRunCommand = Omit<StartRunCommand, 'text' | 'attachments' | 'newThread'> & { readonly resumption: ResumeInput };

/** Takes a message, or the answers to what was asked: stores it with its run, then lets the run begin. */
@Injectable()
export class StartRun {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly models: ModelGateway,
    private readonly attachments: AcceptAttachments,
    private readonly runs: RunRepository,
    private readonly reader: RunReader,
    private readonly newThreads: NewThreadRepository,
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly keys: IdempotencyRepository,
    private readonly joinRun: JoinRun,
    private readonly draining: ShutdownState,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way, or for a repeated request the one that the first made; the message is
   * stored by then
   * @throws DomainError `conflict` (`thread_busy`), `unprocessable` for an agent without a key for
   * its provider or an attachment that cannot be used, `not_found`, `unavailable` while the process
   * stops; nothing is stored then
   */
  async execute(command: StartRunCommand | ResumedRunCommand): Promise<ActiveRun> {
    const { organizationId, thread, userContext, showReasoning, callerPrompt, nonInteractive = false } = command;
    this.refuseWhileStopping();
    const agent = await this.runnableAgent(command);
    const { type, model, useOwnApiKey } = agent.provider;
    const settled = await this.settled(command);
    if (settled) return settled;
    const accepted = await this.accept(command, type);
    const stopwatch = this.clock.stopwatch();
    const resumption = 'resumption' in command ? command.resumption : undefined;
    const userMessage = 'text' in command ? { id: newId(), text: command.text, attachments: accepted.message } : null;
    const run = { id: newId(), messageId: newId(), threadId: thread.id, userMessage, resumption, userContext };
    const started = await this.store(organizationId, accepted.newThread, {
      ...run,
      ownerId: this.owner.id,
      createdAt: stopwatch.startedAt,
      model: { provider: type, model, useOwnApiKey },
      idempotency: command.idempotency,
    }).catch((error: unknown) => {
      accepted.files.release();
      throw error;
    });
    if (!started.started) {
      accepted.files.release();
      await this.attachments.discard(organizationId, accepted.copies);
      return this.instead(started.because, command);
    }
    return this.supervisor.launch({
      organizationId,
      agent,
      threadId: thread.id,
      runId: run.id,
      messageId: run.messageId,
      channel: started.channel,
      userMessage,
      attached: accepted.files,
      decisions: resumption?.decisions ?? null,
      userContext,
      callerPrompt,
      isFirstRun: started.isFirstRun,
      nonInteractive,
      showReasoning,
      stopwatch,
    }, started.revision);
  }

  private async runnableAgent(command: StartRunCommand | ResumedRunCommand): Promise<RunnableAgent> {
    const agent = await this.agents.find(command.organizationId, command.thread.agentId);
    if (!agent) throw absent(command);
    const { type, useOwnApiKey } = agent.provider;
    if (this.models.canRun({ provider: type, hasOwnKey: useOwnApiKey })) return agent;
    throw agentCannotRun(`The agent cannot run: neither it nor this service has a key for the provider ${type}.`);
  }

  private refuseWhileStopping(): void {
    if (this.draining.draining) throw serviceStopping();
  }

  private async accept(command: StartRunCommand | ResumedRunCommand, provider: ProviderType): Promise<AcceptedAttachments> {
    const { organizationId, disconnected } = command;
    const brought = { attachments: attachmentsOf(command), newThread: openingOf(command) };
    const accepted = await this.attachments.execute({ organizationId, provider, disconnected, ...brought });
    try {
      // Fetching takes its time, in which the process may have been told to stop.
      this.refuseWhileStopping();
    } catch (error) {
      accepted.files.release();
      await this.attachments.discard(organizationId, accepted.copies);
      throw error;
    }
    return accepted;
  }

  /**
   * What is known without fetching anything: the run of a repeated request, or that the thread is busy. The statement
   * that stores the message decides both; this spares a request that it would refuse the fetching.
   */
  private async settled(command: StartRunCommand | ResumedRunCommand): Promise<ActiveRun | undefined> {
    const { organizationId, thread, idempotency } = command;
    const newThread = openingOf(command);
    const brings = attachmentsOf(command).length > 0 || newThread?.history.some((said) => said.attachments !== undefined);
    if (brings !== true) return undefined;
    // In this order: what makes the thread busy may be the first request's run, and then its key is there to be found.
    const isBusy = !newThread && (await this.reader.isBusy(organizationId, thread.id));
    const first = idempotency && (await this.keys.findCurrent(organizationId, idempotency, this.clock.now()));
    if (first) return this.instead('repeated', command);
    if (isBusy) throw threadBusy();
    return undefined;
  }

  private store(
    organizationId: string,
    newThread: NewThread<MessageAttachment> | undefined,
    run: NewRun,
  ): Promise<StartResult> {
    return newThread ? this.newThreads.start(organizationId, newThread, run) : this.runs.start(organizationId, run);
  }

  /** @returns the run that the first request of this key has made; null when this is the first */
  async repeated({ organizationId, thread, newThread, idempotency, disconnected }: RepeatableCommand): Promise<ActiveRun | null> {
    const first = idempotency ? await this.keys.find(organizationId, idempotency) : null;
    if (!idempotency || !first) return null;
    if (first.fingerprint !== idempotency.fingerprint) throw idempotencyMismatch();
    const runId = first.resourceId;
    const threadId = newThread ? await this.newThreads.threadOf(organizationId, runId) : thread.id;
    if (threadId === null) throw threadNotFound();
    return this.joinRun.join({ organizationId, threadId, runId }, disconnected);
  }

  private async instead(because: Refusal, command: StartRunCommand | ResumedRunCommand): Promise<ActiveRun> {
    if (because === 'thread_busy') throw threadBusy();
    const first = because === 'thread_absent' ? null : await this.repeated(command);
    if (first) return first;
    if (because !== 'answered') throw absent(command);
    // The run that has answered may still be under way, which is what a resume of its own would have been told.
    const { organizationId, thread } = command;
    throw (await this.reader.isBusy(organizationId, thread.id)) ? threadBusy() : answeredMeanwhile();
  }
}

type RepeatableCommand = Pick<StartRunCommand, 'organizationId' | 'thread' | 'newThread' | 'idempotency' | 'disconnected'>;
type Refusal = Extract<StartResult, { started: false }>['because'];

function attachmentsOf(command: StartRunCommand | ResumedRunCommand): readonly AttachmentReference[] {
  return ('text' in command ? command.attachments : undefined) ?? [];
}

function openingOf(command: StartRunCommand | ResumedRunCommand): NewThread | undefined {
  return 'text' in command ? command.newThread : undefined;
}

function absent(command: StartRunCommand | ResumedRunCommand): DomainError {
  return openingOf(command) ? agentAbsent() : threadNotFound();
}
