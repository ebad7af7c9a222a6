import type { Approval, ChatMessage, MessagePart, ToolActivity } from './chat-state.js';

/** Results by the ids of their calls. */
export type ToolResults = ReadonlyMap<string, string>;

/** The id of the tool part of a call that waits for approval. */
export function callIdOf({ toolCallId, interruptId }: Approval): string {
  return toolCallId ?? interruptId;
}

/** Messages that do not change stay the same objects, so that the view does not draw them again. */
export function changeTools(
  messages: readonly ChatMessage[],
  change: (tool: ToolActivity) => ToolActivity,
): ChatMessage[] {
  return messages.map((message) => {
    const parts = message.parts.map((part): MessagePart => {
      if (part.kind !== 'tool') return part;
      const tool = change(part.tool);
      return tool === part.tool ? part : { kind: 'tool', tool };
    });
    return parts.some((part, index) => part !== message.parts[index]) ? { ...message, parts } : message;
  });
}

export function changeStatus(
  messages: readonly ChatMessage[],
  from: ToolActivity['status'],
  to: ToolActivity['status'],
): ChatMessage[] {
  return changeTools(messages, (tool) => (tool.status === from ? { ...tool, status: to } : tool));
}

/**
 * A call that was approved is in the message that asked, and again in the message of the run that made it: shows it once, where it was
 * asked, with the newest result. Only replies without a message of the visitor between them belong together.
 * @param results of calls that the last reply does not repeat
 */
export function withEachCallOnce(messages: readonly ChatMessage[], results: ToolResults = new Map()): ChatMessage[] {
  const merged: ChatMessage[] = [];
  let from = 0;
  const asked = new Set<string>();
  const update = (newer: ReadonlyMap<string, Pick<ToolActivity, 'output' | 'status'>>): void => {
    const group = changeTools(merged.slice(from), (tool) => updated(tool, newer.get(tool.id)));
    merged.splice(from, group.length, ...group);
  };
  for (const message of messages) {
    if (message.role === 'user') {
      from = merged.length + 1;
      asked.clear();
    }
    const tools = toolsOf(message);
    const repeated = tools.filter(({ id }) => asked.has(id));
    if (repeated.length > 0) update(new Map(repeated.map((tool) => [tool.id, tool])));
    merged.push(repeated.length === 0 ? message : without(message, asked));
    for (const { id } of tools) asked.add(id);
  }
  if (results.size > 0) {
    update(new Map([...results].map(([id, output]) => [id, { output, status: 'completed' }])));
  }
  return merged;
}

function toolsOf({ parts }: ChatMessage): ToolActivity[] {
  return parts.flatMap((part) => (part.kind === 'tool' ? [part.tool] : []));
}

function without(message: ChatMessage, ids: ReadonlySet<string>): ChatMessage {
  return { ...message, parts: message.parts.filter((part) => part.kind !== 'tool' || !ids.has(part.tool.id)) };
}

/** A result does not tell that its call was declined or has failed. */
function updated(tool: ToolActivity, newer: Pick<ToolActivity, 'output' | 'status'> | undefined): ToolActivity {
  if (!newer) return tool;
  const isSettled = newer.status === 'completed' && (tool.status === 'denied' || tool.status === 'failed');
  const status = isSettled ? tool.status : newer.status;
  return tool.output === newer.output && tool.status === status ? tool : { ...tool, output: newer.output, status };
}
