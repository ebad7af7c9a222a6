import { Injectable } from '@nestjs/common';
import type { RunnableAgent } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import { type Conversation, createNewThread } from '../domain/new-thread.js';
import type { CallerSpan, UserContext } from '../ports/index.js';
import type { ActiveRun } from './run-supervisor.js';
import { StartRun } from './start-run.js';
import { ThreadLookup, type ThreadReference } from './thread-lookup.js';

export interface CompleteChatCommand {
  readonly organizationId: string;
  readonly agent: RunnableAgent;
  /**
   * A thread of the agent to continue with its stored history; absent to create one with the conversation's history.
   */
  readonly thread: ThreadReference | undefined;
  readonly conversation: Conversation;
  readonly userContext: UserContext | null;
  readonly callerSpan: CallerSpan | null;
  readonly idempotency?: IdempotentRequest;
  /** The signal aborts when the caller disconnects. Called only when something can be aborted. */
  readonly disconnected: () => AbortSignal;
}

/** Answers the last message of a conversation, in an existing thread or a new one. */
@Injectable()
export class CompleteChat {
  constructor(
    private readonly startRun: StartRun,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way; its message and a new thread are stored
   * @throws what `StartRun.execute` throws; nothing is stored then
   */
  async execute(command: CompleteChatCommand): Promise<ActiveRun> {
    const { organizationId, agent, conversation, userContext, callerSpan, idempotency, disconnected } = command;
    const run = {
      organizationId,
      text: conversation.text,
      clientId: conversation.clientId,
      attachments: conversation.attachments,
      disconnected,
      callerPrompt: conversation.instructions,
      userContext,
      callerSpan,
      showReasoning: false,
      // The API has no way to ask for approval.
      nonInteractive: true,
      idempotency,
    };
    if (command.thread) return this.startRun.execute({ ...run, thread: command.thread });
    const newThread = createNewThread({ organizationId, agentId: agent.id }, conversation, {
      now: this.clock.now(),
      newId,
    });
    const { thread } = newThread;
    const active = await this.startRun.open({ ...run, agent, newThread });
    if (active.threadId === thread.id) this.lookup.remember(thread);
    return active;
  }
}
