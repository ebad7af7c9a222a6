import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import { type AppToolAnswer, AppTools } from '../../integrations/index.js';
import type { JsonObject } from '../../models/index.js';
import { HandlerFailed, type HookOutput, readToolOutput } from '../domain/hook-output.js';
import type { PlacedHandler, ToolHandler } from '../domain/hooks-document.js';
import { declaredValues, fillPlaceholders } from '../domain/placeholders.js';
import { cutTo } from '../domain/text.js';
import { MAX_STRING } from '../limits.js';
import type { HooksOwner } from '../persistence/agent-hooks.repository.js';

/** Calls a tool of one of the agent's servers, with the fields of the hook's input that the handler asks for. */
@Injectable()
export class CallToolHandler {
  constructor(private readonly tools: AppTools) {}

  /** @throws HandlerFailed, AppToolMissing; the reason of `signal` when it aborts */
  async execute(
    { handler }: PlacedHandler<ToolHandler>,
    { organizationId, agentId }: HooksOwner,
    { input, userContext }: { readonly input: JsonObject; readonly userContext: UserContext | null },
    signal: AbortSignal,
  ): Promise<HookOutput> {
    const tool = await this.tools.find(organizationId, agentId, { app: handler.server, tool: handler.tool }, signal);
    const values = fillPlaceholders(declaredValues(handler.input ?? {}, tool.inputSchema), input);
    return readToolOutput(textOf(await tool.call(values, userContext, signal)));
  }
}

/** @throws HandlerFailed for an error result, and for one of which a part is not valid MCP: that part may have been a block */
export function textOf({ text, isError, isRepaired }: AppToolAnswer): string {
  if (isError)
    throw new HandlerFailed(text.trim() === '' ? 'The tool answered with an error.' : cutTo(text, MAX_STRING));
  if (isRepaired) throw new HandlerFailed("The tool's answer is not valid MCP.");
  return text;
}
