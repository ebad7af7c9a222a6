import type { Client } from '@modelcontextprotocol/client';
import { acceptableSchema, isJsonObject, type JsonObject, withoutSchema } from '../../models/index.js';
import { TimeSlice } from '../../platform/clock/index.js';
import type { ConfidentialTexts } from '../../platform/vault/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import { McpFailure } from './mcp-failure.js';
import { CHECK_SLICE_MS, MAX_DESCRIPTION, MAX_LIST_BYTES, MAX_PAGES, MAX_TOOLS, SDK_TIMEOUT_MS } from './mcp-limits.js';
import { isToolName, listOf, rawResultOf } from './raw-result.js';

/** Explains to the model why a tool's arguments are not listed. */
const UNDESCRIBED = 'the server does not describe them in a form that models take';

/**
 * Every tool that can be offered, from all pages. A tool whose schema no model accepts is offered with any object as input. Tools
 * without a usable name, and repeated names, are left out.
 * @throws McpFailure `protocol` for endless pages, `too_large`; what the SDK throws
 */
export async function listTools(
  client: Client,
  signal: AbortSignal,
  confidential: ConfidentialTexts,
): Promise<readonly ListedTool[]> {
  const list = new ToolList(confidential);
  if (!client.getServerCapabilities()?.tools) return list.tools;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    if (cursors.size >= MAX_PAGES)
      throw new McpFailure('protocol', `The list of tools has more than ${MAX_PAGES} pages.`);
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, { signal, timeout: SDK_TIMEOUT_MS });
    const { tools, nextCursor } = rawResultOf(page);
    await addAll(list, listOf(tools));
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    if (cursor !== undefined && cursors.has(cursor)) {
      throw new McpFailure('protocol', 'The list of tools has pages that form a cycle.');
    }
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return list.tools;
}

/** Checking a list may take long, so it yields to other work. */
async function addAll(list: ToolList, tools: readonly unknown[]): Promise<void> {
  const slice = new TimeSlice(CHECK_SLICE_MS);
  for (const tool of tools) {
    if (isJsonObject(tool)) list.add(tool);
    await slice.rest();
  }
}

class ToolList {
  private readonly byName = new Map<string, ListedTool>();
  private bytes = 0;

  constructor(private readonly confidential: ConfidentialTexts) {}

  get tools(): readonly ListedTool[] {
    return [...this.byName.values()];
  }

  add(tool: JsonObject): void {
    if (typeof tool['name'] === 'string' && this.byName.has(tool['name'])) return;
    const listed = listedTool(tool, this.confidential);
    if (!listed) return;
    this.bytes += Buffer.byteLength(JSON.stringify(listed));
    if (this.bytes > MAX_LIST_BYTES) throw new McpFailure('too_large', 'The list of tools is larger than 1 MB.');
    if (this.byName.size >= MAX_TOOLS)
      throw new McpFailure('too_large', `The server has more than ${MAX_TOOLS} tools.`);
    this.byName.set(listed.name, listed);
  }
}

/** @returns undefined for an unusable name, and for a secret in the name or schema, where it cannot be redacted */
export function listedTool(
  { name, title, description, inputSchema, annotations }: JsonObject,
  confidential: ConfidentialTexts,
): ListedTool | undefined {
  if (!isToolName(name)) return undefined;
  const text = [description, title].find((each) => typeof each === 'string') ?? '';
  const short = text.length <= MAX_DESCRIPTION ? text : [...text].slice(0, MAX_DESCRIPTION).join('');
  const tool = {
    name,
    description: confidential.redact(short.toWellFormed()),
    readOnly: isJsonObject(annotations) && annotations['readOnlyHint'] === true,
  };
  const schema = isJsonObject(inputSchema) ? acceptableSchema({ ...inputSchema, type: 'object' }) : undefined;
  if (confidential.occurIn(name) || confidential.occurIn(JSON.stringify(schema ?? {}))) return undefined;
  return schema ? { ...tool, inputSchema: schema } : withoutSchema({ ...tool, inputSchema: {} }, UNDESCRIBED);
}
