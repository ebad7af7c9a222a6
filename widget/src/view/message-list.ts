import type { Approval, ChatMessage, ChatState } from '../client/chat-state.js';
import { Announcements, UNDER_WAY } from './announcements.js';
import { approvalDesk, approvalQuestion } from './approval-card.js';
import { avatarView } from './avatar.js';
import { dayLabel, type Position, positionsOf, timeFormat } from './day-lines.js';
import { icon, ICONS, make, setText } from './dom.js';
import { type Around, MessageView, type Shared } from './message-view.js';
import { drawnParts } from './parts-view.js';
import { startersView } from './starters.js';
import type { ViewContext } from './view-context.js';

/** A reader within this many pixels of the end is at the end. */
const AT_END = 48;
/** Number of messages that are drawn at once: drawing a long conversation in one task would stop the page. */
const SLICE = 15;
const NO_APPROVALS: readonly Approval[] = [];

interface Entry {
  readonly view: MessageView;
  /** Stands before the first message of a day. */
  readonly day: HTMLElement;
}

/** The conversation. It scrolls to new content while the reader is at its end. */
export class MessageList {
  readonly element: HTMLElement;
  private readonly context: ViewContext;
  private readonly shared: Shared;
  private readonly announcements = new Announcements();
  private readonly log: HTMLElement;
  /** What scrolls in the log. */
  private readonly thread: HTMLElement;
  private readonly entries = new Map<string, Entry>();
  private readonly starters: HTMLElement;
  private readonly older: HTMLElement;
  private readonly typing: HTMLElement;
  private readonly typingAvatar: HTMLElement;
  private readonly latestText = make('span', { className: 'latest-text' });
  private readonly latest: HTMLButtonElement;
  private state: ChatState | null = null;
  private isAtEnd = true;
  private top = 0;
  /** Something has come that the reader has not seen. */
  private hasNew = false;
  /** What stood at the end at the last update. */
  private end = '';
  private nextSlice: ReturnType<typeof setTimeout> | undefined;

  /** @param onStarted called when the visitor has chosen a question to begin with */
  constructor(context: ViewContext, onStarted?: () => void) {
    const { strings, look } = context;
    this.context = context;
    this.shared = { desk: approvalDesk(context.chat), timeTexts: timeFormat(context.locale) };
    this.older = make('p', { className: 'older', text: strings.older });
    this.starters = startersView(context, () => {
      this.toEnd();
      if (onStarted) onStarted();
      else this.log.focus({ preventScroll: true });
    });
    this.typingAvatar = avatarView(look);
    this.typing = typingView(this.typingAvatar, strings.typing);
    this.thread = make(
      'div',
      { className: 'thread' },
      this.older,
      look.greeting !== '' && greetingView(context),
      this.starters,
      this.typing,
    );
    this.log = make(
      'div',
      // Assistive technology must not read a reply word by word: another region announces finished replies.
      {
        className: 'log',
        attributes: { role: 'log', 'aria-live': 'off', 'aria-label': strings.conversation, tabindex: '0' },
      },
      this.thread,
    );
    this.latest = make(
      'button',
      { className: 'latest', attributes: { type: 'button' }, onClick: () => this.jump() },
      icon(ICONS.latest),
      this.latestText,
    );
    this.element = make('div', { className: 'conversation' }, this.log, this.latest);
    this.listen();
  }

  update(state: ChatState): void {
    const { messages } = state;
    this.state = state;
    this.shared.desk.update(state);
    this.older.hidden = !state.truncated;
    this.removeGone(messages);
    this.noteNew(messages.at(-1));
    this.draw(state);
    this.drawTyping(state);
    this.starters.hidden = messages.length > 0 || state.status !== 'ready' || this.starters.childElementCount === 0;
    this.announce(state);
    this.follow();
    this.measure();
  }

  toEnd(): void {
    this.isAtEnd = true;
    this.follow();
    this.measure();
  }

  private listen(): void {
    this.log.addEventListener('scroll', () => this.measure(), { passive: true });
    // The end moves when a text is drawn, an image is loaded or an on-screen keyboard opens.
    const sizes = new ResizeObserver(() => this.follow());
    sizes.observe(this.log);
    sizes.observe(this.thread);
    // Details that the reader opens must not move away.
    this.log.addEventListener('click', ({ target }) => {
      if (target instanceof Element && target.closest('summary')) this.isAtEnd = false;
    });
    // The event does not bubble.
    this.log.addEventListener('toggle', () => this.measure(), { capture: true });
  }

  private jump(): void {
    // The button disappears, and with it the focus.
    this.log.focus({ preventScroll: true });
    this.toEnd();
  }

  /** From the last message to the first, so that the end of a long conversation is there at once. */
  private draw(state: ChatState): void {
    const { messages } = state;
    const positions = positionsOf(messages);
    const lastReply = messages.findLastIndex(({ role }) => role === 'assistant');
    let next: Element = this.typing;
    let answer: string | null = null;
    let undrawn = SLICE;
    for (const [index, position] of [...positions.entries()].reverse()) {
      const message = messages[index];
      if (!message) continue;
      const isKnown = this.entries.has(message.key);
      if (!isKnown) undrawn -= 1;
      if (isKnown || undrawn >= 0) {
        const entry = this.entryOf(message);
        const isLast = index === messages.length - 1;
        const approvals = index === lastReply ? state.approvals : NO_APPROVALS;
        entry.view.update(message, {
          ...position,
          ...whatIsPossible(message, state, isLast, answer),
          isLast,
          answer,
          approvals,
        });
        next = this.place(entry, position, next);
      }
      if (message.role === 'user') answer = message.text;
    }
    clearTimeout(this.nextSlice);
    if (undrawn < 0) this.nextSlice = setTimeout(() => this.drawMore());
  }

  private drawMore(): void {
    if (this.state) this.draw(this.state);
    this.follow();
  }

  private entryOf(message: ChatMessage): Entry {
    const known = this.entries.get(message.key);
    if (known) return known;
    const day = make('p', { className: 'day' });
    const made = { view: new MessageView(message, this.context, this.shared), day };
    this.entries.set(message.key, made);
    return made;
  }

  /** @returns the first element of the message */
  private place({ view, day }: Entry, { day: at, startsDay }: Position, next: Element): Element {
    const { strings, locale } = this.context;
    this.putBefore(view.element, next);
    if (!startsDay) {
      day.remove();
      return view.element;
    }
    setText(day, dayLabel(at, Date.now(), strings, locale));
    this.putBefore(day, view.element);
    return day;
  }

  /** Moving a node takes its focus, so only misplaced nodes are moved. */
  private putBefore(element: Element, next: Element): void {
    if (element.nextElementSibling !== next) this.thread.insertBefore(element, next);
  }

  private drawTyping({ status, messages }: ChatState): void {
    const last = messages.at(-1);
    const shown = last?.role === 'assistant' ? drawnParts(last.parts) : [];
    this.typing.hidden =
      status !== 'responding' || !last || (last.status === 'streaming' && isMoving(shown.at(-1)?.part));
    this.typingAvatar.hidden = shown.length > 0;
    this.typing.classList.toggle('starts', shown.length === 0);
  }

  private removeGone(messages: readonly ChatMessage[]): void {
    const keys = new Set(messages.map(({ key }) => key));
    for (const [key, { view, day }] of this.entries) {
      if (keys.has(key)) continue;
      view.element.remove();
      day.remove();
      this.entries.delete(key);
    }
  }

  private noteNew(last: ChatMessage | undefined): void {
    // Another conversation is read from its end.
    if (this.entries.size === 0) this.isAtEnd = true;
    const end = last ? `${last.key} ${String(last.text.length)}` : '';
    if (!last || end === this.end) return;
    this.end = end;
    // After sending a message, the visitor wants to see it.
    if (last.role === 'user') this.isAtEnd = true;
    else if (!this.isAtEnd) this.hasNew = true;
  }

  private announce(state: ChatState): void {
    const { messages, approvals } = this.announcements.next(state);
    if (messages.length === 0 && approvals.length === 0) return;
    const views = messages.flatMap(({ key }) => this.entries.get(key)?.view ?? []);
    const questions = approvals.map(({ tool }) => approvalQuestion(tool, this.context.strings));
    // What is said is read from what is drawn, and a long text is drawn in several frames.
    void Promise.all(views.map((view) => view.whenDrawn())).then(() => {
      const said = [...views.map((view) => view.spoken()), ...questions];
      // One text, because a second one would replace the first before it is read.
      this.context.announce(said.filter((text) => text !== '').join(' '));
    });
  }

  private follow(): void {
    if (this.isAtEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  private measure(): void {
    const { strings } = this.context;
    const { scrollHeight, scrollTop, clientHeight } = this.log;
    if (scrollHeight - scrollTop - clientHeight < AT_END) this.isAtEnd = true;
    // A text that has grown since the last scroll has moved the end, not the reader.
    else if (scrollTop < this.top) this.isAtEnd = false;
    this.top = scrollTop;
    if (this.isAtEnd) this.hasNew = false;
    this.latest.hidden = this.isAtEnd;
    this.latest.classList.toggle('has-new', this.hasNew);
    setText(this.latestText, this.hasNew ? strings.newMessages : '');
    this.latest.title = strings.latest;
    this.latest.setAttribute('aria-label', this.hasNew ? `${strings.newMessages}. ${strings.latest}` : strings.latest);
  }
}

/** Only what this message shows, so that a change of the state does not draw all messages again. */
function whatIsPossible(
  { role, status }: ChatMessage,
  state: ChatState,
  isLast: boolean,
  answer: string | null,
): Pick<Around, 'isOpen' | 'isAnswering' | 'mayRetry' | 'canReact'> {
  const hasBrokenOff = role === 'assistant' && (status === 'incomplete' || status === 'failed');
  const isReady = state.status === 'ready';
  return {
    isOpen: isReady && answer === null,
    isAnswering: isLast && UNDER_WAY.has(state.status),
    mayRetry: isReady && (status === 'unsent' || (isLast && hasBrokenOff)),
    canReact: state.can.react,
  };
}

/** Whether a part shows by itself that the reply goes on. */
function isMoving(part: ChatMessage['parts'][number] | undefined): boolean {
  return part?.kind === 'text' || (part?.kind === 'tool' && part.tool.status === 'running');
}

function greetingView({ look }: ViewContext): HTMLElement {
  const bubble = make(
    'div',
    { className: 'bubble', attributes: { dir: 'auto' } },
    make('p', { className: 'plain', text: look.greeting }),
  );
  return make(
    'div',
    { className: 'message assistant starts greeting' },
    avatarView(look),
    make('div', { className: 'body' }, bubble),
  );
}

function typingView(avatar: HTMLElement, label: string): HTMLElement {
  const dots = [1, 2, 3].map(() => make('i'));
  return make(
    'div',
    { className: 'message assistant' },
    avatar,
    make(
      'div',
      { className: 'body' },
      make('div', { className: 'typing', attributes: { role: 'img', 'aria-label': label } }, ...dots),
    ),
  );
}
