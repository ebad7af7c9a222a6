import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '../../agents/index.js';
import { ModelGateway } from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { DomainError } from '../../platform/errors/index.js';
import { newId } from '../../platform/ids/index.js';
import { Draining } from '../../platform/lifecycle/index.js';
import {
  agentAbsent,
  agentCannotRun,
  answeredMeanwhile,
  idempotencyMismatch,
  serviceStopping,
  threadBusy,
  threadNotFound,
} from '../domain/conversations.errors.js';
import type { Resumption } from '../domain/approval.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { OpeningThread } from '../domain/opening.js';
import { RunOwner } from '../engine/run-owner.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { OpeningRepository } from '../persistence/opening.repository.js';
import { type NewRun, RunRepository, type StartResult } from '../persistence/run.repository.js';
import type { UserContext } from '../ports/index.js';
import { JoinRun } from './join-run.js';
import { type ActiveRun, RunSupervisor } from './run-supervisor.js';
import type { ThreadReference } from './thread-lookup.js';

export interface StartRunCommand {
  readonly organizationId: string;
  readonly thread: ThreadReference;
  /** Makes `thread` together with the run. */
  readonly opening?: OpeningThread;
  /** Put after everything else of the system prompt. */
  readonly callerPrompt?: string;
  readonly text: string;
  readonly userContext: UserContext | null;
  /** Nobody can be asked to approve a tool call. */
  readonly unattended?: boolean;
  /** Whether the model's thinking is asked for and put on the stream. */
  readonly showReasoning: boolean;
  /** Makes a repeat of the request join the run of the first one. */
  readonly idempotency?: IdempotentRequest;
}

/** Goes on with what the thread's last run asked, in place of a message. */
export type ResumedRunCommand = Omit<StartRunCommand, 'text' | 'opening'> & { readonly resumption: Resumption };

/** Takes a message, or the answers to what was asked: stores it with its run, then lets the turn begin. */
@Injectable()
export class StartRun {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly models: ModelGateway,
    private readonly runs: RunRepository,
    private readonly openings: OpeningRepository,
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly keys: IdempotencyRepository,
    private readonly joinRun: JoinRun,
    private readonly draining: Draining,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way, or for a repeated request the one that the first made; the message is
   * stored by then
   * @throws DomainError `conflict` (`thread_busy`), `unprocessable` for an agent without a key for
   * its provider, `not_found`, `unavailable` while the process stops; nothing is stored then
   */
  async execute(command: StartRunCommand | ResumedRunCommand): Promise<ActiveRun> {
    const { organizationId, thread, userContext, showReasoning, callerPrompt, unattended = false } = command;
    if (this.draining.draining) throw serviceStopping();
    const agent = await this.agents.find(organizationId, thread.agentId);
    if (!agent) throw absent(command);
    const { type, model, useOwnApiKey } = agent.provider;
    if (!this.models.canRun({ provider: type, hasOwnKey: useOwnApiKey })) {
      throw agentCannotRun(`The agent cannot run: neither it nor this service has a key for the provider ${type}.`);
    }
    const startedAt = this.clock.now();
    const resumption = 'resumption' in command ? command.resumption : undefined;
    const userMessage = 'text' in command ? { id: newId(), text: command.text } : null;
    const run = { id: newId(), messageId: newId(), threadId: thread.id, userMessage, resumption, userContext };
    const started = await this.store(command, {
      ...run,
      ownerId: this.owner.id,
      createdAt: startedAt,
      model: { provider: type, model, useOwnApiKey },
      idempotency: command.idempotency,
    });
    if (!started.started) return this.instead(started.because, command);
    return this.supervisor.launch({
      organizationId,
      agent,
      threadId: thread.id,
      runId: run.id,
      messageId: run.messageId,
      channel: started.channel,
      userMessage,
      decisions: resumption?.decisions ?? null,
      userContext,
      callerPrompt,
      isFirstTurn: started.isFirstTurn,
      unattended,
      showReasoning,
      startedAt,
    });
  }

  private store(command: StartRunCommand | ResumedRunCommand, run: NewRun): Promise<StartResult> {
    const { organizationId } = command;
    const opening = openingOf(command);
    return opening ? this.openings.start(organizationId, opening, run) : this.runs.start(organizationId, run);
  }

  /** @returns the run that the first request of this key has made; null when this is the first */
  async repeated({ organizationId, thread, opening, idempotency }: RepeatableCommand): Promise<ActiveRun | null> {
    const first = idempotency ? await this.keys.find(organizationId, idempotency) : null;
    if (!idempotency || !first) return null;
    if (first.fingerprint !== idempotency.fingerprint) throw idempotencyMismatch();
    const runId = first.resourceId;
    const threadId = opening ? await this.openings.threadOf(organizationId, runId) : thread.id;
    if (threadId === null) throw threadNotFound();
    return this.joinRun.join({ organizationId, threadId, runId }, thread.agentId);
  }

  private async instead(because: Refusal, command: StartRunCommand | ResumedRunCommand): Promise<ActiveRun> {
    if (because === 'thread_busy') throw threadBusy();
    const first = because === 'thread_absent' ? null : await this.repeated(command);
    if (first) return first;
    if (because === 'answered') throw answeredMeanwhile();
    throw absent(command);
  }
}

type RepeatableCommand = Pick<StartRunCommand, 'organizationId' | 'thread' | 'opening' | 'idempotency'>;
type Refusal = Extract<StartResult, { started: false }>['because'];

function openingOf(command: StartRunCommand | ResumedRunCommand): OpeningThread | undefined {
  return 'opening' in command ? command.opening : undefined;
}

function absent(command: StartRunCommand | ResumedRunCommand): DomainError {
  return openingOf(command) ? agentAbsent() : threadNotFound();
}
