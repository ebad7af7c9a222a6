import { isJSONRPCResultResponse, isSpecType, type JSONRPCMessage } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../models/index.js';
import { MAX_TOOLS } from './mcp-limits.js';
import { isJsonObject } from './tool-schema.js';

type Answer = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>;

/** The entry of `_meta` with the result as the server sent it. The server's own `_meta` is dropped. */
const RAW = 'agent-service/raw';

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

/** The SDK itself reads lists to learn which arguments a server expects as headers (`x-mcp-header`). */
function validPage({ tools, nextCursor }: JsonObject, isModern: boolean): JsonObject {
  return {
    tools: listOf(tools).filter(isValidTool),
    ...(typeof nextCursor === 'string' && { nextCursor }),
    // The newer protocol requires these in every list. The service does not cache lists by them.
    ...(isModern && { ttlMs: 0, cacheScope: 'private' }),
  };
}

/** The tools of a page; with one more than the limit, so that the limit is seen to be exceeded. */
export function listOf(tools: unknown): readonly unknown[] {
  return Array.isArray(tools) ? tools.slice(0, MAX_TOOLS + 1) : [];
}

function isValidTool(tool: unknown): boolean {
  try {
    return isSpecType.Tool(tool);
  } catch (error) {
    // The tool is nested too deeply for the stack.
    if (error instanceof RangeError) return false;
    throw error;
  }
}
