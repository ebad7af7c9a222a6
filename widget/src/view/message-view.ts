import type { ChatMessage } from '../client/chat-state.js';
import type { ApprovalDesk } from './approval-card.js';
import { avatarView } from './avatar.js';
import type { Position, TimeTexts } from './day-lines.js';
import { button, icon, ICONS, make, setText } from './dom.js';
import { linkView } from './markdown-link.js';
import { MessageActions } from './message-actions.js';
import { type PartsAround, PartsView } from './parts-view.js';
import { failureText, type Strings } from './strings.js';
import type { ViewContext } from './view-context.js';

/** What decides, beside the message, how it looks. */
export interface Around extends PartsAround, Position {
  readonly canReact: boolean;
  readonly isLast: boolean;
  /** A message that failed may be tried again now. */
  readonly mayRetry: boolean;
}

/** Shared by the messages of a conversation. */
export interface Shared {
  readonly desk: ApprovalDesk;
  readonly timeTexts: (at: number) => TimeTexts;
}

/** One message, drawn once and then updated. */
export class MessageView {
  readonly element: HTMLElement;
  private readonly context: ViewContext;
  private readonly parts: PartsView | null;
  private readonly actions: MessageActions | null;
  private readonly avatar: HTMLElement | null;
  private readonly time: HTMLElement;
  private readonly meta: HTMLElement;
  private readonly noteText = make('span');
  private readonly retry: HTMLButtonElement;
  private readonly note: HTMLElement;
  private drawn: { readonly message: ChatMessage; readonly around: Around } | null = null;

  constructor(message: ChatMessage, context: ViewContext, { desk, timeTexts }: Shared) {
    const { strings, look } = context;
    this.context = context;
    const isReply = message.role === 'assistant';
    this.parts = isReply ? new PartsView(context, desk) : null;
    this.actions = isReply ? new MessageActions(message, context) : null;
    this.avatar = isReply ? avatarView(look) : null;
    this.retry = button(strings.tryAgain, () => void context.chat.retry(message.key), { className: 'link' });
    this.note = make('p', { className: 'note' }, this.noteText, ' ', this.retry);
    this.time = timeView(message.createdAt, timeTexts);
    this.meta = make('div', { className: 'meta' }, this.time, this.actions?.element);
    const who = make('span', { className: 'hidden', text: isReply ? agentName(context) : strings.you });
    const content = this.parts ? [this.parts.element] : userContent(message);
    const body = make('div', { className: 'body' }, who, ...content, this.note, this.meta, this.actions?.below);
    this.element = make(
      'div',
      { className: `message ${message.role}`, attributes: { role: 'article' } },
      this.avatar,
      body,
    );
  }

  update(message: ChatMessage, around: Around): void {
    if (this.drawn?.message === message && isSame(this.drawn.around, around)) return;
    this.drawn = { message, around };
    const isStreaming = message.status === 'streaming';
    const isEmpty = this.parts !== null && !this.parts.update(message, around);
    // The typing indicator stands here until the reply begins.
    this.element.hidden = isEmpty && isStreaming;
    this.element.classList.toggle('starts', around.startsGroup);
    this.element.classList.toggle('latest-reply', around.isLast);
    if (this.avatar) this.avatar.hidden = !around.startsGroup;
    this.actions?.update(message, around.canReact);
    // A reply has its row of actions anyway.
    this.meta.hidden = isStreaming || (message.role === 'user' && !around.endsGroup);
    this.time.classList.toggle('quiet', !around.endsGroup);
    this.drawNote(message, around);
  }

  /** Resolves when the message is drawn to its end. */
  whenDrawn(): Promise<void> {
    return this.parts?.whenDrawn() ?? Promise.resolve();
  }

  /** What a screen reader says of the message when it has ended. */
  spoken(): string {
    const note = this.note.hidden ? '' : this.noteText.textContent;
    const text = (this.drawn && this.parts?.spoken(this.drawn.message)) ?? '';
    return [text === '' ? '' : `${agentName(this.context)}: ${text}`, note].filter((each) => each !== '').join(' ');
  }

  private drawNote(message: ChatMessage, { mayRetry }: Around): void {
    const text = noteOf(message, this.context.strings);
    this.note.hidden = text === '';
    this.note.classList.toggle('calm', message.status === 'stopped');
    setText(this.noteText, text);
    this.retry.hidden = !mayRetry;
  }
}

/** The agent's name; that of the window would be odd before a message. */
function agentName({ look, strings }: ViewContext): string {
  return look.name === strings.heading ? strings.agent : look.name;
}

/** What went wrong with a message; empty for nothing. */
export function noteOf(message: ChatMessage, strings: Strings): string {
  const said = (text: string): string => (message.failure ? `${text} ${failureText(strings, message.failure)}` : text);
  const { role, status } = message;
  if (status === 'unsent') return said(strings.unsent);
  if (role === 'user') return '';
  switch (status) {
    case 'incomplete':
      return said(strings.incomplete);
    case 'failed':
      return said(strings.replyFailed);
    case 'stopped':
      return strings.stopped;
    case 'sending':
    case 'streaming':
    case 'completed':
      return '';
    default:
      return status satisfies never;
  }
}

function isSame(one: Around, other: Around): boolean {
  return (
    one.isOpen === other.isOpen &&
    one.isAnswering === other.isAnswering &&
    one.mayRetry === other.mayRetry &&
    one.approvals === other.approvals &&
    one.answer === other.answer &&
    one.isLast === other.isLast &&
    one.canReact === other.canReact &&
    one.startsGroup === other.startsGroup &&
    one.endsGroup === other.endsGroup
  );
}

function timeView(at: number, timeTexts: (at: number) => TimeTexts): HTMLElement {
  const { short, full } = timeTexts(at);
  const datetime = new Date(at).toISOString();
  return make('time', { className: 'time', text: short, attributes: { datetime, title: full, dir: 'auto' } });
}

function userContent({ text, attachments }: ChatMessage): HTMLElement[] {
  const files = attachments.map(({ name, url }) => {
    const link = linkView(url, [icon(ICONS.file), make('span', { text: name, attributes: { dir: 'auto' } })]);
    link.classList.add('attachment');
    return make('li', {}, link);
  });
  return [
    ...(text === ''
      ? []
      : [make('div', { className: 'bubble' }, make('p', { className: 'plain', text, attributes: { dir: 'auto' } }))]),
    ...(files.length === 0 ? [] : [make('ul', { className: 'attachments' }, ...files)]),
  ];
}
