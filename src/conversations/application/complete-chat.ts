import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import type { ApprovalAnswer } from '../domain/approval.js';
import type { Conversation } from '../domain/new-thread.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { ResumeRun } from './resume-run.js';
import type { ActiveRun } from './run-supervisor.js';
import { type AnswerCommand, StartRun } from './start-run.js';
import { ThreadLookup, type ThreadReference } from './thread-lookup.js';

export interface CompleteChatCommand extends Omit<AnswerCommand, 'conversation'> {
  /** @throws ValidationFailed for a result without a call */
  readonly conversation: () => Conversation;
  /** The caller's instructions; empty for none. */
  readonly instructions: string;
  /** The results of the caller's tools with which the conversation ends; empty when it ends with a message. */
  readonly results: readonly (ApprovalAnswer & { readonly refersTo: { readonly toolCallId: string } })[];
}

/** Answers a conversation in the form of the OpenAI API, whose clients need not know threads. */
@Injectable()
export class CompleteChat {
  constructor(
    private readonly startRun: StartRun,
    private readonly resumeRun: ResumeRun,
    private readonly runs: RunReader,
    private readonly lookup: ThreadLookup,
    private readonly clock: Clock,
  ) {}

  /**
   * Results continue the run that waits for them. Where no run of the agent waits for exactly these calls, the
   * conversation becomes the history of a new thread.
   * @throws what `StartRun.execute` and `ResumeRun.execute` throw; nothing is stored then
   */
  async execute({ results, conversation, instructions, ...command }: CompleteChatCommand): Promise<ActiveRun> {
    const thread = results.length === 0 ? null : (command.thread ?? (await this.waitingThread(command, results)));
    if (!thread) return this.startRun.answer({ ...command, conversation: conversation() });
    const { thread: _named, externalId: _none, ...request } = command;
    const callerPrompt = instructions;
    const userContextField = 'body/config/userContext';
    return this.resumeRun.execute({ ...request, callerPrompt, thread, answers: results, userContextField });
  }

  private async waitingThread(
    { organizationId, agent }: Pick<AnswerCommand, 'organizationId' | 'agent'>,
    results: CompleteChatCommand['results'],
  ): Promise<ThreadReference | null> {
    const calls = results.map(({ refersTo }) => refersTo.toolCallId);
    const id = await this.runs.findThreadOfCalls(organizationId, agent.id, calls, this.clock.now());
    return id === null ? null : this.lookup.find(organizationId, id);
  }
}
