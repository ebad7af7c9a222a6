import type { ChatMessage, ChatState } from '../client/chat-state.js';
import { ApprovalsView } from './approvals-view.js';
import { ICONS, iconButton, make } from './dom.js';
import { MessageView } from './message-view.js';
import type { ViewContext } from './view-context.js';

/** Pixels from the end that still count as being there. */
const AT_END = 48;

/** The conversation. It follows its end as long as the reader is there. */
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
  /** Replies that were there before, or have been told. */
  private readonly told = new Set<string>();
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
      // What arrives word by word is not read word by word: a region of its own tells of finished replies.
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
    // A picture that has loaded, or a keyboard on the screen, moves the end.
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
      // The visitor's own message is where the reader wants to be.
      if (message.role === 'user' && message.status === 'sending') this.isAtEnd = true;
    }
    // Moving a node takes its focus away, so it is done only where it stands elsewhere.
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

  /** Finished replies, each once; not those of a conversation that is shown again. */
  private tell(messages: readonly ChatMessage[]): void {
    for (const { key, role, status, text } of messages) {
      if (role !== 'assistant' || status === 'streaming' || this.told.has(key)) continue;
      this.told.add(key);
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
