import { Injectable } from '@nestjs/common';
import type { AttachmentReference } from '../../files/index.js';
import { newId } from '../../platform/ids/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import { agentDeleted, refusedRun, threadBusy, threadNotFound } from '../domain/conversations.errors.js';
import type { NewThread, NewThreadMessage } from '../domain/new-thread.js';
import { NewThreadRepository } from '../persistence/new-thread.repository.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import type { NewRun } from '../persistence/new-run.js';
import { RunRepository, type StartResult } from '../persistence/run.repository.js';
import { AcceptAttachments } from './accept-attachments.js';
import { AdmitRun } from './admit-run.js';
import { IdempotentRuns } from './idempotent-runs.js';
import { type LaunchResult, RunLauncher, type RunRequest } from './run-launcher.js';
import type { ActiveRun } from './run-supervisor.js';
import type { ThreadReference } from './thread-lookup.js';

/** A request for a run that answers a message. */
export interface RunMessage extends RunRequest {
  readonly text: string;
  /** The client's own id of the message. */
  readonly clientId?: string | undefined;
  readonly attachments?: readonly AttachmentReference[];
}

export type StartRunCommand = Omit<RunMessage, 'agent'> & { readonly thread: ThreadReference };

export type OpenThreadCommand = RunMessage & { readonly newThread: NewThread };

type Store = (run: NewRun, history: readonly NewThreadMessage<MessageAttachment>[]) => Promise<StartResult>;

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
  ) {}

  /**
   * @returns the run under way, whose message is stored; for a repeated request the first one's run
   * @throws DomainError `conflict` (`thread_busy`), `unprocessable` for an agent without a key for its provider, an
   * organization without credits or an attachment that cannot be used, `not_found`, `unavailable` while the process
   * stops; nothing is stored then
   */
  execute({ thread, ...message }: StartRunCommand): Promise<ActiveRun> {
    const { organizationId, attachments = [] } = message;
    const hasAttachments = attachments.length > 0;
    const start = async (): Promise<ActiveRun> => {
      await this.admitRun.execute(organizationId, thread.agent);
      // The statement that stores the message decides this; the check only saves the fetching of attachments.
      if (hasAttachments && (await this.reader.isBusy(organizationId, thread.id))) throw threadBusy();
      const command = { ...message, agent: thread.agent };
      const result = await this.launch(command, thread.id, (run) => this.runs.start(organizationId, run));
      return started(result, threadNotFound);
    };
    return this.idempotentRuns.execute({ ...message, threadId: thread.id }, start, hasAttachments);
  }

  /** As `execute`, with a new thread that is stored together with the run. */
  open({ newThread, ...message }: OpenThreadCommand): Promise<ActiveRun> {
    const { organizationId } = message;
    const hasAttachments = [...newThread.history, message].some((each) => (each.attachments ?? []).length > 0);
    const start = async (): Promise<ActiveRun> => {
      await this.admitRun.execute(organizationId, message.agent);
      const store: Store = (run, history) => this.newThreads.start(organizationId, { ...newThread, history }, run);
      const result = await this.launch(message, newThread.thread.id, store, newThread.history);
      return started(result, agentDeleted);
    };
    return this.idempotentRuns.execute({ ...message, threadId: null }, start, hasAttachments);
  }

  private async launch(
    message: RunMessage,
    threadId: string,
    store: Store,
    history: NewThread['history'] = [],
  ): Promise<LaunchResult> {
    const { organizationId, agent, text, clientId, attachments = [], disconnected } = message;
    const accepted = await this.attachments.execute({
      ...{ organizationId, provider: agent.provider, attachments, history, disconnected },
    });
    const userMessage = { id: newId(), clientId, text, attachments: accepted.message };
    const input = { threadId, userMessage, attached: accepted.files, sentHistory: accepted.history };
    const result = await this.launcher.launch(message, input, (run) => store(run, accepted.history));
    if (!result.started) await this.attachments.discard(organizationId, accepted.copies);
    return result;
  }
}

function started(result: LaunchResult, absent: () => Error): ActiveRun {
  if (result.started) return result.run;
  throw result.because === 'thread_absent' ? absent() : refusedRun(result.because);
}
