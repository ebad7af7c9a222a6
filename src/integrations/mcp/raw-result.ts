import { isJSONRPCResultResponse, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, MAX_SCHEMA_DEPTH } from '../../models/index.js';
import { MAX_TOOL_NAME, MAX_TOOLS } from './mcp-limits.js';

type Answer = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>;

/** The entry of `_meta` with the result as the server sent it. The server's own `_meta` is dropped. */
const RAW = 'agent-service/raw';

const VISIBLE = /^[^\p{C}\p{Z}]+$/u;
const HEADER = 'x-mcp-header';
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
/** The types of arguments that the protocol allows as headers. */
const HEADER_TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/**
 * A valid answer that carries the server's result in `_meta`, because the SDK rejects a whole list for one invalid tool, and a
 * whole result for one invalid block. `rawResultOf` returns the result, whose parts the service validates itself.
 */
export function withRawResult(method: string, message: Answer): Answer {
  if (!isJSONRPCResultResponse(message) || (method !== 'tools/call' && method !== 'tools/list')) return message;
  const { result } = message;
  const { resultType } = result;
  // Another kind of result, such as a request for input.
  if (resultType !== undefined && resultType !== 'complete') return message;
  const kind = resultType === undefined ? {} : { resultType };
  const content = method === 'tools/call' ? { content: [] } : validPage(result, resultType !== undefined);
  return { ...message, result: { ...kind, ...content, _meta: { [RAW]: result } } };
}

export function rawResultOf({ _meta }: { readonly _meta?: JsonObject | undefined }): JsonObject {
  const raw = _meta?.[RAW];
  return isJsonObject(raw) ? raw : {};
}

/**
 * The SDK itself reads lists to learn which arguments a server expects as headers (`x-mcp-header`), and gets nothing else of a
 * tool: it keeps the lists, prints what is wrong with a declaration, and would refuse the results of a tool with an output schema.
 */
function validPage({ tools, nextCursor }: JsonObject, isModern: boolean): JsonObject {
  return {
    tools: listOf(tools).flatMap(declaredHeaders),
    ...(typeof nextCursor === 'string' && { nextCursor }),
    // The newer protocol requires these in every list. The service does not cache lists by them.
    ...(isModern && { ttlMs: 0, cacheScope: 'private' }),
  };
}

/** The tools of a page; with one more than the limit, so that the limit is seen to be exceeded. */
export function listOf(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools.slice(0, MAX_TOOLS + 1) : [];
}

export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && VISIBLE.test(name) && [...name].length <= MAX_TOOL_NAME;
}

function declaredHeaders(tool: unknown): JsonObject[] {
  if (!isJsonObject(tool) || !isToolName(tool['name'])) return [];
  const properties = argumentsWithHeaders(tool['inputSchema'], 1);
  return properties ? [{ name: tool['name'], inputSchema: { type: 'object', properties } }] : [];
}

/** @returns undefined if no argument is declared as a header */
function argumentsWithHeaders(schema: unknown, depth: number): JsonObject | undefined {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties']) || depth > MAX_SCHEMA_DEPTH) return undefined;
  const declared = Object.entries(schema['properties']).flatMap(([name, argument]): [string, JsonObject][] => {
    if (!isJsonObject(argument)) return [];
    const { type, [HEADER]: header } = argument;
    if (HEADER_TYPES.includes(type) && typeof header === 'string' && HEADER_NAME.test(header)) {
      return [[name, { type, [HEADER]: header }]];
    }
    const properties = argumentsWithHeaders(argument, depth + 1);
    return properties ? [[name, { properties }]] : [];
  });
  return declared.length > 0 ? Object.fromEntries(declared) : undefined;
}
