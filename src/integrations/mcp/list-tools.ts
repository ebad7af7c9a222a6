import type { Client, Tool } from '@modelcontextprotocol/client';
import { withoutSchema } from '../../models/index.js';
import { TimeSlice } from '../../platform/clock/index.js';
import type { ListedTool } from '../domain/tool-list.js';
import type { Confidential } from './confidential.js';
import { McpFailure } from './mcp-failure.js';
import {
  CHECK_SLICE_MS,
  MAX_DESCRIPTION,
  MAX_LIST_BYTES,
  MAX_PAGES,
  MAX_TOOL_NAME,
  MAX_TOOLS,
  SDK_TIMEOUT_MS,
} from './mcp-limits.js';
import { UNDESCRIBED } from './tool-notes.js';
import { acceptableSchema } from './tool-schema.js';

const VISIBLE = /^[^\p{C}\p{Z}]+$/u;

/**
 * Every tool that can be offered, from all pages: one whose schema cannot be sent with a plain object instead. Those without a usable
 * name are left out, of those with the same name all but the first.
 * @throws McpFailure `protocol` for pages without end, `too_large`; what the SDK throws
 */
export async function listTools(
  client: Client,
  signal: AbortSignal,
  confidential: Confidential,
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
    await addAll(list, page.tools);
    cursor = page.nextCursor;
    if (cursor !== undefined && cursors.has(cursor)) {
      throw new McpFailure('protocol', 'The list of tools has pages that lead back to each other.');
    }
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return list.tools;
}

/** A list may take long to check, and so leaves the thread to others in between. */
async function addAll(list: ToolList, tools: readonly Tool[]): Promise<void> {
  const slice = new TimeSlice(CHECK_SLICE_MS);
  for (const tool of tools) {
    list.add(tool);
    await slice.rest();
  }
}

class ToolList {
  private readonly byName = new Map<string, ListedTool>();
  private bytes = 0;

  constructor(private readonly confidential: Confidential) {}

  get tools(): readonly ListedTool[] {
    return [...this.byName.values()];
  }

  add(tool: Tool): void {
    const acceptable = this.byName.has(tool.name) ? undefined : listedTool(tool);
    const listed = acceptable && this.confidential.leftOutOfTool(acceptable);
    if (!listed) return;
    this.bytes += Buffer.byteLength(JSON.stringify(listed));
    if (this.bytes > MAX_LIST_BYTES) throw new McpFailure('too_large', 'The list of tools is larger than 1 MB.');
    if (this.byName.size >= MAX_TOOLS)
      throw new McpFailure('too_large', `The server has more than ${MAX_TOOLS} tools.`);
    this.byName.set(listed.name, listed);
  }
}

function listedTool({ name, description = '', inputSchema, annotations }: Tool): ListedTool | undefined {
  if (!VISIBLE.test(name) || [...name].length > MAX_TOOL_NAME) return undefined;
  const short =
    description.length <= MAX_DESCRIPTION ? description : [...description].slice(0, MAX_DESCRIPTION).join('');
  const tool = { name, description: short.toWellFormed(), inputSchema, readOnly: annotations?.readOnlyHint === true };
  const schema = acceptableSchema(inputSchema);
  return schema ? { ...tool, inputSchema: schema } : withoutSchema(tool, UNDESCRIBED);
}
