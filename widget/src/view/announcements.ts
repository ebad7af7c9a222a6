import type { Approval, ChatMessage, ChatState, ChatStatus } from '../client/chat-state.js';

/** While a reply is under way. A message that appears in another state was restored. */
export const UNDER_WAY: ReadonlySet<ChatStatus> = new Set(['responding', 'reconnecting', 'waiting']);

/** Decides what assistive technology hears: each reply once, when it has ended, and each request for approval. */
export class Announcements {
  private readonly settled = new Set<string>();
  private before: ChatStatus = 'idle';
  private approvals: readonly Approval[] = [];

  /** What is to be said after a change. */
  next({ status, messages, approvals }: Pick<ChatState, 'status' | 'messages' | 'approvals'>): {
    readonly messages: readonly ChatMessage[];
    readonly approvals: readonly Approval[];
  } {
    const isNew = UNDER_WAY.has(this.before);
    this.before = status;
    const ended = messages.filter((message) => this.settle(message));
    const asked = approvals === this.approvals ? [] : approvals;
    this.approvals = approvals;
    return { messages: isNew ? ended : [], approvals: asked };
  }

  /** @returns whether the message has ended since the last time */
  private settle({ key, role, status }: ChatMessage): boolean {
    const hasEnded = role === 'assistant' ? status !== 'streaming' : status === 'unsent';
    const isFirst = hasEnded && !this.settled.has(key);
    if (isFirst) this.settled.add(key);
    else if (!hasEnded) this.settled.delete(key);
    return isFirst;
  }
}

const INLINE: ReadonlySet<string> = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'code',
  'del',
  'em',
  'i',
  'ins',
  'mark',
  's',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
]);

/** The text of an element as it is read: blocks are separated, images and boxes have their description, and what only serves to press is left out. */
export function readText(root: Node): string {
  return partsOf(root).replaceAll(/\s+/g, ' ').trim();
}

function partsOf(node: Node): string {
  if (node instanceof Text) return node.data;
  if (!(node instanceof Element)) return '';
  if (node instanceof HTMLImageElement) return ` ${node.alt} `;
  if (node instanceof HTMLButtonElement || node.getAttribute('role') === 'doc-backlink') return ' ';
  if (node instanceof HTMLInputElement) return ` ${node.ariaLabel ?? ''} `;
  const inside = [...node.childNodes].map(partsOf).join('');
  return INLINE.has(node.localName) ? inside : ` ${inside} `;
}
