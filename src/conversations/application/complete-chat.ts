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
  /** A thread of this agent, whose stored history then counts; absent to make one of the conversation given. */
  readonly thread: ThreadReference | undefined;
  readonly conversation: Conversation;
  readonly userContext: UserContext | null;
  readonly callerSpan: CallerSpan | null;
  readonly idempotency?: IdempotentRequest;
  /** Aborted when the caller leaves; asked for only where something is to end then. */
  readonly disconnected: () => AbortSignal;
}

/** Answers the last message of a conversation that the caller keeps, or continues one that is kept here. */
@Injectable()
export class CompleteChat {
  constructor(
    private readonly startRun: StartRun,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way; what was said, and the thread where one was made, are stored by then
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
      // The protocol of this route has no way to ask for approval.
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
