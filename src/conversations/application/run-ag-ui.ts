import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { isUuid, newId } from '../../platform/ids/index.js';
import type { ApprovalAnswer } from '../domain/approval.js';
import { noThreadToResume } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import { type Conversation, createNewThread } from '../domain/new-thread.js';
import { NewThreadRepository } from '../persistence/new-thread.repository.js';
import type { UserContext } from '../ports/index.js';
import type { ActiveRun } from './run-supervisor.js';
import { ResumeRun } from './resume-run.js';
import { StartRun, type StartRunCommand } from './start-run.js';
import { ThreadLookup, type ThreadReference } from './thread-lookup.js';

export interface RunAgUiCommand {
  readonly organizationId: string;
  readonly agentId: string;
  /** The id of a thread of this agent, or what the client itself calls the conversation. */
  readonly threadId: string;
  readonly conversation: Conversation;
  /** What is said to the calls that the thread's last run asked for; without any the conversation's text is answered. */
  readonly answers: readonly ApprovalAnswer[];
  readonly userContext: UserContext | null;
  readonly showReasoning: boolean;
  readonly idempotency?: IdempotentRequest;
  /** Aborted when the caller leaves; asked for only where something is to end then. */
  readonly disconnected: () => AbortSignal;
  /** Told the thread as soon as it is found to exist. */
  readonly onThread: (threadId: string) => void;
}

/**
 * Runs a run for a client that makes up its threads' ids. Such an id is kept beside the thread's own, and
 * means something only for its agent: whether it is the id of a thread elsewhere, of another agent or of
 * another organization, changes nothing, so nothing can be learned by trying.
 */
@Injectable()
export class RunAgUi {
  constructor(
    private readonly startRun: StartRun,
    private readonly resumeRun: ResumeRun,
    private readonly lookup: ThreadLookup,
    private readonly newThreads: NewThreadRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way; what was said, and the thread where one was made, are stored by then
   * @throws what `StartRun.execute` and `ResumeRun.execute` throw; nothing is stored then
   */
  async execute(command: RunAgUiCommand): Promise<ActiveRun> {
    const { organizationId, conversation, answers, userContext, showReasoning, idempotency, disconnected } = command;
    const goingOn = {
      organizationId,
      disconnected,
      callerPrompt: conversation.instructions,
      userContext,
      showReasoning,
      idempotency,
    };
    const thread = await this.find(command);
    if (answers.length > 0) {
      if (!thread) throw noThreadToResume();
      return this.resumeRun.execute({ ...goingOn, thread, answers });
    }
    const run = { ...goingOn, text: conversation.text, attachments: conversation.attachments };
    return thread ? this.startRun.execute({ ...run, thread }) : this.open(command, run);
  }

  private async open(command: RunAgUiCommand, run: Omit<StartRunCommand, 'thread'>): Promise<ActiveRun> {
    const { conversation, threadId: externalId } = command;
    const newThread = createNewThread(command, conversation, { now: this.clock.now(), newId, externalId });
    try {
      return await this.startRun.execute({ ...run, thread: newThread.thread, newThread });
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'not_found') throw error;
      // Another request of the client may have opened it a moment ago; else the agent is gone.
      const thread = await this.find(command);
      if (!thread) throw error;
      return this.startRun.execute({ ...run, thread });
    }
  }

  private async find(command: RunAgUiCommand): Promise<ThreadReference | null> {
    const thread = await this.findThread(command);
    if (thread) command.onThread(thread.id);
    return thread;
  }

  /** The agent's thread that goes by this id of its own or of the client's. */
  async findThread({
    organizationId,
    agentId,
    threadId,
  }: Pick<RunAgUiCommand, 'organizationId' | 'agentId' | 'threadId'>): Promise<ThreadReference | null> {
    if (isUuid(threadId)) {
      const thread = await this.lookup.find(organizationId, threadId.toLowerCase());
      if (thread?.agentId === agentId) return thread;
    }
    const id = await this.newThreads.findByExternalId(organizationId, agentId, threadId);
    return id === null ? null : { id, agentId };
  }
}
