import type { ChatState } from '../client/chat-state.js';
import { button, make, setText } from './dom.js';
import { failureText, fill } from './strings.js';
import type { ViewContext } from './view-context.js';

/** The current problem, and what the visitor can do about it. */
export class StatusLine {
  readonly element: HTMLElement;
  private readonly context: ViewContext;
  private readonly text = make('span');
  /** Assistive technology announces a countdown once, not every second. */
  private announced = '';
  private readonly again: HTMLButtonElement;
  private readonly startNew: HTMLButtonElement;
  private timer: ReturnType<typeof setInterval> | undefined;

  /** @param onNew the visitor wants a new conversation */
  constructor(context: ViewContext, onNew: () => void) {
    const { strings, chat } = context;
    this.context = context;
    this.again = button(strings.tryAgain, () => void chat.start());
    this.startNew = button(strings.newConversation, onNew);
    this.element = make('div', { className: 'status' }, this.text, this.again, this.startNew);
  }

  update(state: ChatState): void {
    const { status, failure } = state;
    clearInterval(this.timer);
    if (status === 'waiting') this.timer = setInterval(() => this.draw(state), 1000);
    this.again.hidden = status !== 'failed' || failure?.terminal === true;
    this.startNew.hidden = status !== 'failed';
    this.element.classList.toggle('problem', failure !== null && (status === 'failed' || status === 'ready'));
    this.draw(state);
    const kind = `${status} ${failure?.code ?? ''}`;
    if (kind !== this.announced && !this.element.hidden) this.context.announce(this.text.textContent);
    this.announced = kind;
  }

  focus(): void {
    this.startNew.focus();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private draw(state: ChatState): void {
    const text = this.textOf(state);
    setText(this.text, text);
    this.element.hidden = text === '';
  }

  private textOf(state: ChatState): string {
    const { status, failure, retryAt } = state;
    const { strings } = this.context;
    if (status === 'waiting') {
      const seconds = Math.max(1, Math.ceil(((retryAt ?? 0) - Date.now()) / 1000));
      return fill(strings.waiting, { seconds: String(seconds) });
    }
    if (status === 'connecting') return strings.connecting;
    if (status === 'reconnecting') return strings.reconnecting;
    return failure && !isNoted(state) ? failureText(strings, failure) : '';
  }
}

/** Whether the note of a message already says what went wrong. */
function isNoted({ status, failure, messages }: ChatState): boolean {
  return status !== 'failed' && messages.at(-1)?.failure?.code === failure?.code;
}
