import {
  type CallToolResult,
  isJSONRPCResultResponse,
  isSpecType,
  type JSONRPCMessage,
} from '@modelcontextprotocol/client';
import { type JsonObject, withoutSchema } from '../../models/index.js';
import { MAX_CONTENT_BLOCKS, MAX_TOOLS } from './mcp-limits.js';
import { noteOf, UNDESCRIBED } from './tool-notes.js';

type Answer = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>;

/** In the `_meta` of a result that was not to the letter; what a server has there itself is never kept. */
const REPAIRED = 'agent-service/repaired';

/** The service does not guess at the content: such an answer does not show whether the call had its effect. */
const UNREADABLE = 'The tool server answered with a result that cannot be read: ';

/**
 * An answer in which one wrong part is left out or replaced by a note: the SDK refuses a whole list for one tool, and a whole
 * result for one block, that is not to the letter.
 */
export function repairedAnswer(method: string, message: Answer): Answer {
  if (!isJSONRPCResultResponse(message)) return message;
  // Another kind of result, such as one that asks for input.
  const { resultType } = message.result;
  if (resultType !== undefined && resultType !== 'complete') return message;
  // What the newer protocol asks for in every list; lists are not cached here.
  const kind =
    resultType === undefined ? {} : { resultType, ...(method === 'tools/list' && { ttlMs: 0, cacheScope: 'private' }) };
  if (method === 'tools/call') return { ...message, result: { ...kind, ...repairedResult(message.result) } };
  if (method === 'tools/list') return { ...message, result: { ...kind, ...repairedPage(message.result) } };
  return message;
}

/** Whether something of a result was left out or replaced: a model can do with the rest, a guard's word is not to be guessed. */
export function wasRepaired({ _meta }: CallToolResult): boolean {
  return _meta?.[REPAIRED] === true;
}

function repairedResult({ content, structuredContent, isError }: JsonObject): JsonObject {
  const given: readonly unknown[] = Array.isArray(content) ? content : [];
  const known = given.slice(0, MAX_CONTENT_BLOCKS).map(knownBlock);
  const left = given.length - known.length;
  const blocks = known.map((block, index) => block ?? noteInPlaceOf(given[index]));
  if (left > 0) blocks.push({ type: 'text', text: noteOf(`${left} further parts of the result`) });
  // Servers that answer structured content alone leave out the list, which the SDK takes for empty.
  const isList = Array.isArray(content) || (content === undefined && structuredContent !== undefined);
  if (!isList)
    blocks.push({
      type: 'text',
      text: `${UNREADABLE}${content === undefined ? 'it has no content' : 'its content is not a list'}.`,
    });
  const isWhole =
    isList && left === 0 && !known.includes(undefined) && (isError === undefined || typeof isError === 'boolean');
  const result = {
    content: blocks,
    isError: isError === true || !isList,
    ...(isWhole ? {} : { _meta: { [REPAIRED]: true } }),
  };
  if (structuredContent === undefined) return result;
  if (isObject(structuredContent)) return { ...result, structuredContent };
  return { ...result, content: [...blocks, { type: 'text', text: jsonOf(structuredContent) }] };
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return noteOf('Structured content that is nested too deeply');
  }
}

/** Undefined for what is no content, or none that is known. */
function knownBlock(block: unknown): object | undefined {
  if (!isObject(block)) return undefined;
  const { annotations: _annotations, _meta, icons: _icons, ...kept } = block;
  return isSpecType.ContentBlock(kept) ? kept : undefined;
}

function noteInPlaceOf(block: unknown): object {
  if (!isObject(block)) return { type: 'text', text: noteOf('A part that is no content') };
  const type = typeof block['type'] === 'string' ? block['type'].slice(0, 100) : 'unknown';
  return { type: 'text', text: noteOf(`Content of type ${JSON.stringify(type)} that is not valid or not known`) };
}

function repairedPage({ tools, nextCursor }: JsonObject): JsonObject {
  return {
    // One more than there may be tells that there are too many.
    tools: Array.isArray(tools) ? tools.slice(0, MAX_TOOLS + 1).flatMap(repairedTool) : [],
    ...(typeof nextCursor === 'string' && { nextCursor }),
  };
}

/** What is read of a tool; none for what has no name. */
function repairedTool(tool: unknown): object[] {
  if (!isObject(tool) || typeof tool['name'] !== 'string') return [];
  const { name, title, description, inputSchema, annotations } = tool;
  const readOnlyHint = isObject(annotations) && annotations['readOnlyHint'] === true;
  const words = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  const told = { name, description: words, annotations: { readOnlyHint } };
  const schemas = isObject(inputSchema) ? [{ ...inputSchema, type: 'object' }, argumentsOf(inputSchema)] : [];
  const readable = schemas.map((schema) => ({ ...told, inputSchema: schema })).find(isReadable);
  return [readable ?? withoutSchema({ ...told, inputSchema: {} }, UNDESCRIBED)];
}

function isReadable(tool: object): boolean {
  try {
    return isSpecType.Tool(tool);
  } catch (error) {
    // Nested so deeply that checking it takes all of the stack.
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** The arguments of a schema that the SDK refuses: those that are objects, and the names of those that are required. */
function argumentsOf({ properties, required }: JsonObject): JsonObject {
  const named = isObject(properties) ? Object.entries(properties).filter(([, schema]) => isObject(schema)) : [];
  return {
    type: 'object',
    properties: Object.fromEntries(named),
    ...(Array.isArray(required) && { required: required.filter((name) => typeof name === 'string') }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
