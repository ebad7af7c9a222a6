import type { JsonObject, ToolDefinition } from './model-runtime.js';

/** The schema of a tool whose own schema is not sent. With `properties`, since some providers refuse an object without them. */
export const ANY_INPUT: JsonObject = { type: 'object', properties: {} };

/** The tool with `ANY_INPUT`, and with the reason in its description, so that the model can ask for the arguments or try them. */
export function withoutSchema<Tool extends ToolDefinition>(tool: Tool, reason: string): Tool {
  const note = `Its arguments are not listed here, because ${reason}.`;
  return {
    ...tool,
    description: tool.description === '' ? note : `${tool.description}\n\n${note}`,
    inputSchema: ANY_INPUT,
  };
}
