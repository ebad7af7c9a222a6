import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import type { ApprovalAnswer } from '../domain/approval.js';
import { noThreadToResume } from '../domain/conversations.errors.js';
import type { Conversation } from '../domain/new-thread.js';
import { NewThreadRepository } from '../persistence/new-thread.repository.js';
import { ResumeRun } from './resume-run.js';
import type { RunRequest } from './run-launcher.js';
import type { ActiveRun } from './run-supervisor.js';
import { StartRun } from './start-run.js';
import { ThreadLookup, type ThreadReference } from './thread-lookup.js';

export interface RunAgUiCommand extends RunRequest {
  /** The id of a thread of this agent, or the client's own id of the conversation. */
  readonly threadId: string;
  readonly conversation: Conversation;
  /** What the last run waits for; when empty, the run answers the conversation's text. Results of other calls are ignored. */
  readonly answers: readonly ApprovalAnswer[];
  /** Results that the input has before its message; they are taken where the last run waits for them. */
  readonly results: readonly ApprovalAnswer[];
  /** Called with the thread's id once the thread is found. */
  readonly onThread: (threadId: string) => void;
}

/**
 * Runs an agent for a client that chooses the ids of its threads. The thread stores the client's id besides its own,
 * and the client's id is looked up for the agent alone. So a client cannot find out whether another agent or
 * organization has a thread with some id.
 */
@Injectable()
export class RunAgUi {
  constructor(
    private readonly startRun: StartRun,
    private readonly resumeRun: ResumeRun,
    private readonly lookup: ThreadLookup,
    private readonly newThreads: NewThreadRepository,
  ) {}

  /** @throws what `StartRun.execute` and `ResumeRun.execute` throw; nothing is stored then */
  async execute(command: RunAgUiCommand): Promise<ActiveRun> {
    const { threadId: externalId, conversation, answers, results, onThread: _onThread, ...request } = command;
    const thread = await this.find(command);
    if (answers.length > 0) {
      if (!thread) throw noThreadToResume();
      const userContextField = 'body/forwardedProps/userContext';
      const callerPrompt = conversation.instructions;
      return this.resumeRun.execute({
        ...request,
        callerPrompt,
        thread,
        answers,
        userContextField,
        repeatsResults: true,
      });
    }
    const answer = (found: ThreadReference | null): Promise<ActiveRun> =>
      this.startRun.answer({ ...request, conversation, thread: found, externalId, results });
    try {
      return await answer(thread);
    } catch (error) {
      if (thread || !(error instanceof DomainError) || error.kind !== 'not_found') throw error;
      // Another request of the client may have created the thread; otherwise the agent has been deleted.
      const created = await this.find(command);
      if (!created) throw error;
      return answer(created);
    }
  }

  private async find(command: RunAgUiCommand): Promise<ThreadReference | null> {
    const { organizationId, agent, threadId } = command;
    const id = await this.findThreadId(organizationId, agent.id, threadId);
    if (id === null) return null;
    command.onThread(id);
    return { id, agentId: agent.id, agent };
  }

  async findThreadId(organizationId: string, agentId: string, threadId: string): Promise<string | null> {
    if (isUuid(threadId)) {
      const thread = await this.lookup.find(organizationId, threadId.toLowerCase());
      if (thread?.agentId === agentId) return thread.id;
    }
    return this.newThreads.findByExternalId(organizationId, agentId, threadId);
  }
}
