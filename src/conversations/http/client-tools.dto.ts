import { acceptableSchema, ANY_INPUT, type ToolDefinition, withoutSchema } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { isText, JsonObjectField, StringField } from '../../platform/http/index.js';

export const MAX_CLIENT_TOOLS = 64;
/** Characters of the JSON of a request's tools together. */
export const MAX_CLIENT_TOOLS_JSON = 200_000;
export const CLIENT_TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export class ClientToolBody {
  @StringField({
    pattern: CLIENT_TOOL_NAME,
    description: 'Unique in the request; not the name of a tool that the agent has.',
  })
  readonly name!: string;
  @StringField({ optional: true, description: 'Tells the model what the tool does, and when to use it.' })
  readonly description?: string;
  @JsonObjectField({
    optional: true,
    nullable: true,
    description: 'JSON Schema of the arguments, which are an object. Keywords that providers refuse are left out.',
  })
  readonly parameters?: Readonly<Record<string, unknown>> | null;
}

/**
 * The tools as models get them, with schemas that providers accept.
 * @throws ValidationFailed for two tools with one name, and for tools that are too large together
 */
export function readClientTools(tools: readonly ClientToolBody[], path = 'body/tools'): ToolDefinition[] {
  if (!isText(JSON.stringify(tools), { max: MAX_CLIENT_TOOLS_JSON })) {
    throw new ValidationFailed(`${path} must have at most ${MAX_CLIENT_TOOLS_JSON} characters of JSON altogether`);
  }
  const names = new Set<string>();
  return tools.map((tool, index) => {
    if (names.has(tool.name)) throw new ValidationFailed(`${path}/${index}/name ${tool.name} is the name of two tools`);
    names.add(tool.name);
    return definitionOf(tool);
  });
}

function definitionOf({ name, description = '', parameters }: ClientToolBody): ToolDefinition {
  const tool = { name, description: description.toWellFormed(), inputSchema: ANY_INPUT };
  if (!parameters || Object.keys(parameters).length === 0) return tool;
  const schema = acceptableSchema({ ...parameters, type: 'object' });
  return schema ? { ...tool, inputSchema: schema } : withoutSchema(tool, 'models cannot use their description');
}
