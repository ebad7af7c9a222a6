import type { ChatMessage, MessagePart, ToolActivity } from './chat-state.js';
import type { ReactionKind } from './options.js';
import type { WireMessage, WireToolCall } from './wire.js';

/** The service refuses an empty text, but takes a blank one with files. */
const NO_TEXT = ' ';
/** Prefix of the tools that show a component: the component stands for the call. */
const COMPONENT_TOOL = 'present_';

/** The key of a reply is that of its run, because its message has no id at first. */
export function keyOfReply(runId: string): string {
  return `reply:${runId}`;
}

/** The text of a message as the service stores it. */
export function contentOf({ text }: Pick<ChatMessage, 'text'>): string {
  return text.trim() === '' ? NO_TEXT : text;
}

export function isComponentTool(name: string): boolean {
  return name.startsWith(COMPONENT_TOOL);
}

/** A message as it is stored. */
export function restoreMessage(message: WireMessage): ChatMessage {
  const { id, role, content, attachments, status, runId } = message;
  return {
    key: role === 'assistant' && runId !== null ? keyOfReply(runId) : id,
    id,
    role,
    text: content.trim() === '' ? '' : content,
    parts: partsOf(message),
    attachments,
    status,
    createdAt: Date.parse(message.createdAt),
    reaction: reactionOf(message.reactions),
    failure: null,
  };
}

/**
 * A stored reply whose parts stand as they were streamed: in older services the stored message does not tell their order.
 * @param streamed the parts of the stream
 */
export function restoreReply(message: WireMessage, streamed: readonly MessagePart[]): ChatMessage {
  const restored = restoreMessage(message);
  if (message.partOffsets || lettersOf(streamed) !== lettersOf(restored.parts)) return restored;
  const stored = new Map(restored.parts.flatMap((part) => (part.kind === 'text' ? [] : [[idOf(part), part]])));
  const parts = streamed.map((part) => {
    if (part.kind === 'text') return part;
    const now = stored.get(idOf(part)) ?? part;
    stored.delete(idOf(part));
    return now;
  });
  return { ...restored, parts: [...parts, ...stored.values()] };
}

/** A text without the blank lines that separate it from the parts before it. */
export function withoutBlankStart(text: string): string {
  return text.replace(/^\s*\n/, '');
}

/** Without offsets, tool calls stand before the text and components after it. */
function partsOf({ content, toolCalls = [], components, partOffsets = [] }: WireMessage): MessagePart[] {
  const shown = toolCalls.filter(({ name }) => !isComponentTool(name));
  const places = new Map(partOffsets.map(({ id, offset }, order) => [id, { offset, order }]));
  const place = (id: string, otherwise: number) => places.get(id) ?? { offset: otherwise, order: 0 };
  const placed = [
    ...shown.map((call) => ({ ...place(call.id, 0), part: toolPart(restoreTool(call)) })),
    ...components.map((component) => ({
      ...place(component.id, content.length),
      part: { kind: 'component', component } as const,
    })),
  ].sort((one, other) => one.offset - other.offset || one.order - other.order);
  const parts: MessagePart[] = [];
  let from = 0;
  const textUntil = (end: number): void => {
    const text = withoutBlankStart(content.slice(from, end)).trimEnd();
    if (text !== '') parts.push({ kind: 'text', text });
    from = Math.max(from, end);
  };
  for (const { offset, part } of placed) {
    textUntil(offset);
    parts.push(part);
  }
  textUntil(content.length);
  return parts;
}

function toolPart(tool: ToolActivity): MessagePart {
  return { kind: 'tool', tool };
}

function idOf(part: Exclude<MessagePart, { kind: 'text' }>): string {
  return part.kind === 'tool' ? part.tool.id : part.component.id;
}

/** The texts without white space, because a stored text has other blank lines between its parts. */
function lettersOf(parts: readonly MessagePart[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text.replaceAll(/\s+/g, '') : '')).join('');
}

function restoreTool({ id, name, input, output, status }: WireToolCall): ToolActivity {
  return { id, name, input: JSON.stringify(input ?? {}), output: output ?? null, status: toolStatus(status) };
}

function toolStatus(status: string): ToolActivity['status'] {
  switch (status) {
    case 'completed':
    case 'failed':
    case 'awaiting_approval':
    case 'approved':
    case 'denied':
    case 'running':
      return status;
    default:
      return 'failed';
  }
}

/** A message has at most one reaction, by its name. */
function reactionOf(reactions: Readonly<Record<string, unknown>>): ReactionKind | null {
  if ('thumbs_up' in reactions) return 'thumbs_up';
  return 'thumbs_down' in reactions ? 'thumbs_down' : null;
}
