import type { ChatMessage, ChatState } from '../client/chat-state.js';
import { ApprovalsView } from './approvals-view.js';
import { ICONS, iconButton, make } from './dom.js';
import { MessageView } from './message-view.js';
import type { ViewContext } from './view-context.js';

/** A reader within this many pixels of the end is at the end. */
const AT_END = 48;

/** The conversation. It scrolls to new content while the reader is at its end. */
export class MessageList {
  readonly element: HTMLElement;
  private readonly context: ViewContext;
  private readonly log: HTMLElement;
  private readonly views = new Map<string, MessageView>();
  private readonly greeting: HTMLElement;
  private readonly older: HTMLElement;
  private readonly typing: HTMLElement;
  private readonly latest: HTMLButtonElement;
  private readonly approvals: ApprovalsView;
  private isAtEnd = true;
  /** Replies that need no announcement: restored or announced ones. */
  private readonly announced = new Set<string>();
  private isFirst = true;

  constructor(context: ViewContext, greeting: string) {
    const { strings } = context;
    this.context = context;
    this.approvals = new ApprovalsView(context);
    this.greeting = make(
      'div',
      { className: 'message assistant' },
      make('div', { className: 'bubble', text: greeting, attributes: { dir: 'auto' } }),
    );
    this.greeting.hidden = greeting === '';
    this.older = make('p', { className: 'older', text: strings.older });
    const dots = [1, 2, 3].map(() => make('i'));
    this.typing = make(
      'div',
      { className: 'message assistant' },
      make('div', { className: 'bubble typing', attributes: { role: 'img', 'aria-label': strings.typing } }, ...dots),
    );
    this.log = make(
      'div',
      // Assistive technology must not read a reply word by word: another region announces finished replies.
      {
        className: 'log',
        attributes: { role: 'log', 'aria-live': 'off', 'aria-label': strings.conversation, tabindex: '0' },
      },
      this.older,
      this.greeting,
      this.typing,
      this.approvals.element,
    );
    this.latest = iconButton(strings.latest, ICONS.latest, () => this.toEnd(), { className: 'latest' });
    this.element = make('div', { className: 'conversation' }, this.log, this.latest);
    this.log.addEventListener('scroll', () => this.look(), { passive: true });
    // A loaded image or an on-screen keyboard moves the end.
    new ResizeObserver(() => this.follow()).observe(this.log);
  }

  update(state: ChatState): void {
    const { messages } = state;
    this.older.hidden = !state.truncated;
    this.removeGone(messages);
    messages.forEach((message, index) => {
      const isLast = index === messages.length - 1;
      this.viewOf(message, index).update(message, state, {
        isLast,
        answer: isLast ? null : (messages[index + 1]?.text ?? null),
      });
    });
    const last = messages.at(-1);
    this.typing.hidden = !(state.status === 'responding' && last?.role === 'user');
    this.approvals.update(state);
    this.tell(messages);
    this.follow();
    this.look();
  }

  toEnd(): void {
    this.isAtEnd = true;
    this.log.scrollTop = this.log.scrollHeight;
    this.look();
  }

  private viewOf(message: ChatMessage, index: number): MessageView {
    let view = this.views.get(message.key);
    if (!view) {
      view = new MessageView(message, this.context);
      this.views.set(message.key, view);
      // After sending a message, the visitor wants to see it.
      if (message.role === 'user' && message.status === 'sending') this.isAtEnd = true;
    }
    // Moving a node takes its focus, so only misplaced nodes are moved.
    const place = this.log.children.item(index + 2);
    if (place !== view.element) this.log.insertBefore(view.element, place);
    return view;
  }

  private removeGone(messages: readonly ChatMessage[]): void {
    const keys = new Set(messages.map(({ key }) => key));
    for (const [key, view] of this.views) {
      if (keys.has(key)) continue;
      view.element.remove();
      this.views.delete(key);
    }
  }

  /** Announces each finished reply once, but no replies of a restored conversation. */
  private tell(messages: readonly ChatMessage[]): void {
    for (const { key, role, status, text } of messages) {
      if (role !== 'assistant' || status === 'streaming' || this.announced.has(key)) continue;
      this.announced.add(key);
      if (!this.isFirst && text !== '') this.context.announce(`${this.context.strings.agent}: ${text}`);
    }
    if (messages.length > 0) this.isFirst = false;
  }

  private follow(): void {
    if (this.isAtEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  private look(): void {
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    this.isAtEnd = scrollHeight - scrollTop - clientHeight < AT_END;
    this.latest.hidden = this.isAtEnd;
  }
}
