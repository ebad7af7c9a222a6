import { Inject, Injectable } from '@nestjs/common';
import { AgentDirectory, AgentRouting } from '../../agents/index.js';
import type { ModelMessage } from '../../models/index.js';
import { untilAborted } from '../../platform/clock/index.js';
import { RunRepository } from '../persistence/run.repository.js';
import type { EarlierCall, PromptScope, PromptSource, PromptVerdict, ToolSource } from '../ports/index.js';
import { DatabaseOutage } from './database-outage.js';
import { HookDispatcher } from './hook-dispatcher.js';
import { judgeSentHistory } from './judge-sent-history.js';
import { LoadHistory } from './load-history.js';
import { type ResultEntry, withContext } from '../domain/message.js';
import { PROMPT_SOURCES, TOOL_SOURCES } from './run-extensions.js';
import { withFiles } from './load-attachments.js';
import { contextCharacters } from './model-context.js';
import type { NextStep, RunState } from './run-state.js';
import { ToolSet } from './tool-set.js';

const PASSED: PromptVerdict = { decision: 'continue', additionalContext: [] };
const BLOCKED_WITHOUT_REASON = 'This message was not passed on to the agent.';

/** First phase of a run: loads everything for the model, in parallel. */
@Injectable()
export class PrepareRun {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly routing: AgentRouting,
    private readonly loadHistory: LoadHistory,
    private readonly runs: RunRepository,
    private readonly hooks: HookDispatcher,
    private readonly outage: DatabaseOutage,
    @Inject(PROMPT_SOURCES) private readonly promptSources: readonly PromptSource[],
    @Inject(TOOL_SOURCES) private readonly toolSources: readonly ToolSource[],
  ) {}

  async run(state: RunState): Promise<NextStep> {
    const { context } = state;
    const { agent, organizationId, signal } = context;
    if (context.sentHistory.length > 0) {
      const judged = await untilAborted(judgeSentHistory(state, this.hooks, this.runs, this.outage), signal);
      if (judged.decision === 'block') return block(state, judged.reason);
    }
    const read = <Result>(work: () => Promise<Result>): Promise<Result> => this.outage.during(state, work);
    const [loaded, keptResults, prompts, tools, verdict, apiKey, route] = await untilAborted(
      Promise.all([
        read(() => this.loadHistory.run(state)),
        context.userMessage === null ? this.takeKeptResults(state) : [],
        Promise.all(this.promptSources.map((source) => read(() => source.parts(context)))),
        Promise.all(this.toolSources.map((source) => read(() => source.offer(context)))),
        // A resumed run has no new prompt for hooks to check.
        context.userMessage === null ? PASSED : this.hooks.beforePrompt(state, context.userMessage),
        agent.provider.useOwnApiKey ? read(() => this.agents.ownApiKey(organizationId, agent.id)) : undefined,
        read(() => this.routing.routeOf(agent)),
      ]),
      signal,
    );
    state.history = loaded.history;
    if (verdict.decision === 'block') return block(state, verdict.reason);
    state.tools = new ToolSet(tools.flat(), contextCharacters(agent), context.options.clientTools);
    state.conversation.history = loaded.exchanges;
    state.conversation.omittedMessages = loaded.omittedMessages;
    state.system = joined([agent.systemPrompt, ...this.partsOf('agent', prompts)]);
    state.conversationSystem = joined([...this.partsOf('conversation', prompts), context.callerPrompt ?? '']);
    state.apiKey = apiKey;
    state.route = route;
    if (context.userMessage === null) {
      state.conversation.resume(loaded.currentMessages, keptResults);
      state.continued = loaded.currentMessages.some((entry) => entry.role === 'user' && entry.guidance === true);
      state.tools.useAgain(loaded.currentMessages);
      context.earlierCalls.push(...earlierCallsIn(loaded.currentMessages));
      return { kind: 'resume_tools', decisions: context.decisions ?? [] };
    }
    if (verdict.additionalContext.length > 0) {
      // Stored before the model reads it, so that later runs give the model the same message even when this run fails.
      const { id } = context.userMessage;
      await read(() => this.runs.keepContext(context, id, verdict.additionalContext));
      state.promptContext = verdict.additionalContext;
    }
    const text = withContext(context.userMessage.text, verdict.additionalContext);
    state.conversation.current = [withFiles(text, context.attached.take())];
    return { kind: 'call_model' };
  }

  /** In two statements, since each is repeated when the database gave no answer. */
  private async takeKeptResults(state: RunState): Promise<readonly ResultEntry[]> {
    const { organizationId, runId } = state.context;
    const kept = await this.outage.during(state, () => this.runs.findKeptResults(organizationId, runId));
    if (kept.length > 0) await this.outage.during(state, () => this.runs.removeKeptResults(organizationId, runId));
    return kept;
  }

  /** @param prompts the parts of each source */
  private partsOf(scope: PromptScope, prompts: readonly (readonly string[])[]): readonly string[] {
    return prompts.filter((_parts, index) => this.promptSources[index]?.scope === scope).flat();
  }
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function earlierCallsIn(exchange: readonly ModelMessage[]): EarlierCall[] {
  return exchange.flatMap((entry) => (entry.role === 'tool' ? [{ name: entry.toolName, failed: entry.isError }] : []));
}

function block(state: RunState, reason: string | null): NextStep {
  state.text = reason ?? BLOCKED_WITHOUT_REASON;
  return { kind: 'finish', outcome: { status: 'completed', blocked: true } };
}
