import { Inject, Injectable } from '@nestjs/common';
import { AgentDirectory, AgentRouting } from '../../agents/index.js';
import type { OfferedTool, PromptSource, PromptVerdict, ToolSource } from '../ports/index.js';
import { untilAborted } from './until-aborted.js';
import { HookPanel } from './hook-panel.js';
import { LoadHistory } from './load-history.js';
import { PROMPT_SOURCES, TOOL_SOURCES } from './participants.js';
import { withFiles } from './recall-attachments.js';
import type { NextStep, Turn } from './turn.js';

const PASSED: PromptVerdict = { decision: 'continue', additionalContext: [] };
const BLOCKED_WITHOUT_REASON = 'This message was not passed on to the agent.';

/** First phase of a turn: everything the model will be given, gathered at once. */
@Injectable()
export class PrepareTurn {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly routing: AgentRouting,
    private readonly loadHistory: LoadHistory,
    private readonly hooks: HookPanel,
    @Inject(PROMPT_SOURCES) private readonly promptSources: readonly PromptSource[],
    @Inject(TOOL_SOURCES) private readonly toolSources: readonly ToolSource[],
  ) {}

  async run(turn: Turn): Promise<NextStep> {
    const { context } = turn;
    const { agent, organizationId, signal } = context;
    const [history, prompts, tools, verdict, apiKey, route] = await untilAborted(
      Promise.all([
        this.loadHistory.run(turn),
        Promise.all(this.promptSources.map((source) => source.parts(context))),
        Promise.all(this.toolSources.map((source) => source.offer(context))),
        // What goes on is no new prompt.
        context.userMessage === null ? PASSED : this.hooks.beforePrompt(turn),
        agent.provider.useOwnApiKey ? this.agents.ownApiKey(organizationId, agent.id) : undefined,
        this.routing.routeOf(agent),
      ]),
      signal,
    );
    turn.tail = history.tail;
    if (verdict.decision === 'block') return block(turn, verdict.reason);
    turn.history = history.exchanges;
    turn.omittedMessages = history.omittedMessages;
    const parts = [agent.systemPrompt, ...prompts.flat(), context.callerPrompt ?? ''];
    turn.system = parts.filter((part) => part !== '').join('\n\n');
    turn.tools = byName(tools.flat());
    turn.apiKey = apiKey;
    turn.route = route;
    if (context.userMessage === null) {
      turn.begun = history.begun;
      return { kind: 'resume_tools', decisions: context.decisions ?? [] };
    }
    const said = [context.userMessage.text, ...verdict.additionalContext].join('\n\n');
    turn.begun = [withFiles(said, context.attached.take())];
    return { kind: 'call_model' };
  }
}

function block(turn: Turn, reason: string | null): NextStep {
  turn.text = reason ?? BLOCKED_WITHOUT_REASON;
  return { kind: 'finish', outcome: { status: 'completed', blocked: true } };
}

function byName(tools: readonly OfferedTool[]): Map<string, OfferedTool> {
  const named = new Map<string, OfferedTool>();
  for (const tool of tools) if (!named.has(tool.definition.name)) named.set(tool.definition.name, tool);
  return named;
}
