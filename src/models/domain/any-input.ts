import type { JsonObject, ToolDefinition } from './model-runtime.js';

/** The schema that replaces a tool's own. It has `properties`, because some providers refuse an object schema without them. */
export const ANY_INPUT: JsonObject = { type: 'object', properties: {} };

/** The tool with `ANY_INPUT` as its schema. Its description states the reason, so that the model can ask for the arguments or guess them. */
export function withoutSchema<Tool extends ToolDefinition>(tool: Tool, reason: string): Tool {
  const note = `Its arguments are not listed here, because ${reason}.`;
  return {
    ...tool,
    description: tool.description === '' ? note : `${tool.description}\n\n${note}`,
    inputSchema: ANY_INPUT,
  };
}
