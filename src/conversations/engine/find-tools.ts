import type { ToolDefinition } from '../../models/index.js';
import type { OfferedTool, ToolResult } from '../ports/index.js';
import { MAX_FOUND_DESCRIPTION, MAX_FOUND_TOOLS, MAX_NAMED_KINDS } from './limits.js';
import { toolIndex } from './tool-index.js';

export const FIND_TOOLS = 'find_tools';

const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What the tool should do, in a few words, such as "create invoice".' },
  },
  required: ['query'],
};

/** Stored in transcripts, where `namesFoundIn` recognizes it: do not change it. */
const FOUND = 'These tools can be called from now on:';
const MAX_QUOTED = 200;

/**
 * The tool with which a model searches for other tools.
 * @param offer adds the results of a search, the best first, to further requests; returns those for which there is room
 */
export function findTools(
  tools: readonly ToolDefinition[],
  offer: (found: readonly ToolDefinition[]) => readonly ToolDefinition[],
): OfferedTool {
  const search = (query: string): ToolResult => {
    const results = offer(toolIndex(tools).search(query, MAX_FOUND_TOOLS));
    return {
      output: results.length > 0 ? [FOUND, ...results.map(lineOf)].join('\n') : nothingFound(query, tools),
      isError: false,
    };
  };
  return {
    definition: { name: FIND_TOOLS, description: descriptionOf(tools), inputSchema: INPUT_SCHEMA },
    step: 'tool',
    effect: 'exempt',
    call: ({ query }) =>
      Promise.resolve(typeof query === 'string' ? search(query) : { output: 'query must be a text.', isError: true }),
  };
}

/** The names of the tools in the output of a search. */
export function namesFoundIn(output: string): string[] {
  if (!output.startsWith(FOUND)) return [];
  return output.split('\n').flatMap((line) => /^- ([\w-]{1,64})(?::|$)/.exec(line)?.[1] ?? []);
}

function descriptionOf(tools: readonly ToolDefinition[]): string {
  const kinds = [...Map.groupBy(tools, kindOf)].sort(([, left], [, right]) => right.length - left.length);
  const named = kinds.slice(0, MAX_NAMED_KINDS).map(([kind, of]) => `${kind} (${of.length})`);
  if (kinds.length > named.length) named.push(`${kinds.length - named.length} other kinds`);
  return (
    `Finds tools that are not listed here: ${tools.length} more, by the beginnings of their names ${named.join(', ')}. ` +
    'Search before you say that something cannot be done. Use words from names and descriptions of tools, most of ' +
    'which are English. After the search you can call the tools that were found.'
  );
}

/** The names of one server's tools have a common prefix. */
function kindOf({ name }: ToolDefinition): string {
  return /^mcp__.+?__/.exec(name)?.[0] ?? 'others';
}

/** Read by `namesFoundIn`. */
function lineOf({ name, description }: ToolDefinition): string {
  const text = description.replace(/\s+/gu, ' ').trim();
  const cut = text.length > MAX_FOUND_DESCRIPTION ? `${text.slice(0, MAX_FOUND_DESCRIPTION).toWellFormed()}…` : text;
  return cut === '' ? `- ${name}` : `- ${name}: ${cut}`;
}

function nothingFound(query: string, tools: readonly ToolDefinition[]): string {
  const step = Math.max(1, Math.ceil(tools.length / MAX_FOUND_TOOLS));
  const some = tools.filter((_tool, index) => index % step === 0).map(({ name }) => name);
  return (
    `No tool matches ${JSON.stringify(query.slice(0, MAX_QUOTED).toWellFormed())}. Search again with other words. ` +
    `Some of the ${tools.length} tools: ${some.join(', ')}.`
  );
}
