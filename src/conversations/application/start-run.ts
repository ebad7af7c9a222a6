import { Injectable } from '@nestjs/common';
import type { AttachmentReference } from '../../files/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import { type ApprovalAnswer, decide, hasExpired, openAnswers } from '../domain/approval.js';
import { agentDeleted, threadBusy, threadNotFound, toRefusal } from '../domain/conversations.errors.js';
import { type Conversation, createNewThread, type NewThreadMessage } from '../domain/new-thread.js';
import { RunNotStarted } from '../domain/run.js';
import type { NewRun } from '../persistence/new-run.js';
import { NewThreadRepository } from '../persistence/new-thread.repository.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { RunRepository, type StartedRun } from '../persistence/run.repository.js';
import { AcceptAttachments } from './accept-attachments.js';
import { AdmitRun } from './admit-run.js';
import { IdempotentRuns } from './idempotent-runs.js';
import { RunLauncher, type RunRequest } from './run-launcher.js';
import type { ActiveRun } from './run-supervisor.js';
import { ThreadLookup, type ThreadReference } from './thread-lookup.js';

interface RunMessage extends RunRequest {
  /** Null when the run answers the end of the thread's history. */
  readonly text: string | null;
  readonly clientId?: string | undefined;
  readonly attachments?: readonly AttachmentReference[];
}

export type StartRunCommand = Omit<RunMessage, 'agent'> & {
  readonly thread: ThreadReference;
  /** Results of calls that the thread's last run may wait for. Others are ignored; without a result a call is declined. */
  readonly results?: readonly ApprovalAnswer[];
};

export interface AnswerCommand extends RunRequest {
  readonly conversation: Conversation;
  /** A thread of the agent to continue with its stored history; null to create one with the conversation's history. */
  readonly thread: ThreadReference | null;
  readonly externalId?: string;
  /** As of `StartRunCommand`. */
  readonly results?: readonly ApprovalAnswer[];
}

type Store = (run: NewRun, history: readonly NewThreadMessage<MessageAttachment>[]) => Promise<StartedRun>;

/** Stores a message with its run and starts the run. */
@Injectable()
export class StartRun {
  constructor(
    private readonly admitRun: AdmitRun,
    private readonly launcher: RunLauncher,
    private readonly idempotentRuns: IdempotentRuns,
    private readonly attachments: AcceptAttachments,
    private readonly runs: RunRepository,
    private readonly reader: RunReader,
    private readonly newThreads: NewThreadRepository,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way, whose message is stored; for a repeated request the first one's run
   * @throws DomainError `conflict` (`thread_busy`), `unprocessable` for an agent without a key for its provider, an
   * organization without credits or an attachment that cannot be used, `not_found`, `unavailable` while the process
   * stops; nothing is stored then
   */
  execute({ thread, results = [], ...message }: StartRunCommand): Promise<ActiveRun> {
    const { organizationId, attachments = [] } = message;
    const hasAttachments = attachments.length > 0;
    const start = async (): Promise<ActiveRun> => {
      await this.admitRun.execute(organizationId, thread.agent, message.options);
      // The statement that stores the message decides this; the check only saves the fetching of attachments.
      if (hasAttachments && (await this.reader.isBusy(organizationId, thread.id))) throw threadBusy();
      const resumeInput = results.length === 0 ? undefined : await this.taken(organizationId, thread.id, results);
      const store: Store = (run) => this.runs.start(organizationId, { ...run, resumeInput });
      return this.launch({ ...message, agent: thread.agent }, thread.id, [], store, threadNotFound);
    };
    return this.idempotentRuns.execute({ ...message, threadId: thread.id }, start, hasAttachments);
  }

  /** Answers the last message of a conversation. A new thread is stored together with the run. @throws as `execute` */
  async answer({ conversation, thread, externalId, agent, results, ...request }: AnswerCommand): Promise<ActiveRun> {
    const { text, clientId, attachments, instructions: callerPrompt } = conversation;
    const message = { ...request, text, clientId, attachments, callerPrompt };
    if (thread) return this.execute({ ...message, thread, ...(results ? { results } : {}) });
    const { organizationId } = request;
    const owner = { organizationId, agentId: agent.id };
    const newThread = createNewThread(owner, conversation.history, this.clock.now(), externalId);
    const hasAttachments = [...conversation.history, conversation].some((each) => (each.attachments ?? []).length > 0);
    const start = async (): Promise<ActiveRun> => {
      await this.admitRun.execute(organizationId, agent, request.options);
      const store: Store = (run, history) => this.newThreads.start(organizationId, { ...newThread, history }, run);
      return this.launch({ ...message, agent }, newThread.thread.id, newThread.history, store, agentDeleted);
    };
    const active = await this.idempotentRuns.execute({ ...message, threadId: null }, start, hasAttachments);
    if (active.threadId === newThread.thread.id) this.lookup.remember(newThread.thread);
    return active;
  }

  /** What becomes of the waiting calls of which at least one has a result. */
  private async taken(
    organizationId: string,
    threadId: string,
    results: readonly ApprovalAnswer[],
  ): Promise<NewRun['resumeInput']> {
    const open = await this.reader.openApprovals(organizationId, threadId);
    if (!open?.runId || (open.askedAt !== null && hasExpired(open.askedAt, this.clock.now()))) return undefined;
    const answers = openAnswers(open.requests, results);
    return answers.length === 0 ? undefined : { runId: open.runId, decisions: decide(open.requests, answers) };
  }

  private async launch(
    message: RunMessage,
    threadId: string,
    history: readonly NewThreadMessage<AttachmentReference>[],
    store: Store,
    absent: typeof threadNotFound,
  ): Promise<ActiveRun> {
    const { organizationId, agent, text, clientId, attachments = [], disconnected } = message;
    const accepted = await this.attachments.execute({
      ...{ organizationId, provider: agent.provider, attachments, history, disconnected },
    });
    const userMessage = text === null ? null : { id: newId(), clientId, text, attachments: accepted.message };
    const input = { threadId, userMessage, attached: accepted.files, sentHistory: accepted.history };
    try {
      return await this.launcher.launch(message, input, (run) => store(run, accepted.history));
    } catch (error) {
      if (error instanceof RunNotStarted) await this.attachments.discard(organizationId, accepted.copies);
      throw toRefusal(error, absent);
    }
  }
}
