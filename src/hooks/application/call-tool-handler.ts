import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import { AppToolMissing, AppTools } from '../../integrations/index.js';
import type { JsonObject } from '../../models/index.js';
import { type HookOutput, readToolOutput } from '../domain/hook-output.js';
import type { PlacedHandler, ToolHandler } from '../domain/hooks-document.js';
import { declaredValues, fillPlaceholders, InputTooLarge } from '../domain/placeholders.js';
import type { HooksOwner } from '../persistence/agent-hooks.repository.js';
import { HandlerFailed, textOf } from './handler-failed.js';

/** Calls a tool of one of the agent's servers, with the fields of the hook's input that the handler asks for. */
@Injectable()
export class CallToolHandler {
  constructor(private readonly tools: AppTools) {}

  /** @throws HandlerFailed, MalformedOutput; the reason of `signal` when it aborts */
  async execute(
    { handler }: PlacedHandler<ToolHandler>,
    { organizationId, agentId }: HooksOwner,
    { input, userContext }: { readonly input: JsonObject; readonly userContext: UserContext | null },
    signal: AbortSignal,
  ): Promise<HookOutput> {
    try {
      const tool = await this.tools.find(organizationId, agentId, { app: handler.server, tool: handler.tool }, signal);
      const values = fillPlaceholders(declaredValues(handler.input ?? {}, tool.inputSchema), input);
      return readToolOutput(textOf(await tool.call(values, userContext, signal)));
    } catch (error) {
      if (error instanceof AppToolMissing || error instanceof InputTooLarge) throw new HandlerFailed(error.message);
      throw error;
    }
  }
}
