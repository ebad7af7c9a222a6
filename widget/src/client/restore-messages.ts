import type { ChatMessage, ToolActivity } from './chat-state.js';
import type { ReactionKind } from './options.js';
import type { WireMessage, WireToolCall } from './wire.js';

/** The key of a reply is that of its run, because its message has no id at first. */
export function keyOfReply(runId: string): string {
  return `reply:${runId}`;
}

/** A message as it is stored. */
export function restoreMessage(message: WireMessage): ChatMessage {
  const { id, role, content, attachments, status, components, toolCalls = [], runId } = message;
  return {
    key: role === 'assistant' && runId !== null ? keyOfReply(runId) : id,
    id,
    role,
    text: content,
    attachments,
    status,
    components,
    tools: toolCalls.map(restoreTool),
    reaction: reactionOf(message.reactions['reaction']),
  };
}

function restoreTool({ id, name, input, output, status }: WireToolCall): ToolActivity {
  return { id, name, input: JSON.stringify(input ?? {}), output: output ?? null, status: toolStatus(status) };
}

function toolStatus(status: string): ToolActivity['status'] {
  switch (status) {
    case 'completed':
    case 'failed':
    case 'awaiting_approval':
    case 'denied':
    case 'running':
      return status;
    case 'approved':
      return 'completed';
    default:
      return 'failed';
  }
}

function reactionOf(reaction: unknown): ReactionKind | null {
  return reaction === 'thumbs_up' || reaction === 'thumbs_down' ? reaction : null;
}
