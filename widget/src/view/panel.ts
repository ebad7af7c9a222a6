import type { Chat } from '../client/chat-state.js';
import { Composer } from './composer.js';
import { button, ICONS, iconButton, make, setText } from './dom.js';
import { MessageList } from './message-list.js';
import { StatusLine } from './status-line.js';
import type { Strings } from './strings.js';
import type { ViewContext } from './view-context.js';

export interface PanelOptions {
  readonly chat: Chat;
  readonly strings: Strings;
  readonly heading: string;
  readonly greeting: string;
  readonly placeholder: string;
  readonly imageOrigins: ReadonlySet<string>;
  /** Absent if the panel cannot be closed. */
  readonly onClose?: () => void;
  readonly onSent: () => void;
}

/** The whole chat: heading, conversation and input. */
export class Panel {
  readonly element: HTMLElement;
  private readonly chat: Chat;
  private readonly list: MessageList;
  private readonly status: StatusLine;
  private readonly composer: Composer;
  private readonly suggestions: HTMLElement;
  private readonly unsubscribe: () => void;
  private offered: readonly string[] = [];

  constructor(options: PanelOptions) {
    const { chat, strings, heading, onClose } = options;
    const live = make('div', { className: 'hidden', attributes: { 'aria-live': 'polite', role: 'status' } });
    const context: ViewContext = {
      chat,
      strings,
      isTrustedImage: ({ origin }) => options.imageOrigins.has(origin),
      shownImages: new Set(),
      announce: (text) => setText(live, text),
    };
    this.chat = chat;
    this.list = new MessageList(context, options.greeting);
    this.status = new StatusLine(context);
    this.composer = new Composer(context, options.placeholder, () => {
      this.list.toEnd();
      options.onSent();
    });
    this.suggestions = make('div', {
      className: 'suggestions',
      attributes: { role: 'group', 'aria-label': strings.suggestions },
    });
    const restart = iconButton(
      strings.newConversation,
      ICONS.restart,
      () => void chat.newConversation().then(() => this.focus()),
    );
    const close = onClose && iconButton(strings.close, ICONS.close, onClose);
    const title = make('h2', { className: 'heading', text: heading, attributes: { id: 'heading' } });
    this.element = make(
      'section',
      {
        className: 'panel',
        attributes: { 'aria-labelledby': 'heading', ...(onClose ? { role: 'dialog', id: 'panel' } : {}) },
      },
      make('header', { className: 'header' }, title, restart, close),
      this.list.element,
      this.status.element,
      this.suggestions,
      this.composer.element,
      live,
    );
    this.acceptDrops();
    this.unsubscribe = chat.subscribe(() => this.update());
    this.update();
  }

  focus(): void {
    this.list.toEnd();
    this.composer.focus();
  }

  destroy(): void {
    this.unsubscribe();
    this.status.stop();
  }

  private update(): void {
    const { state } = this.chat;
    this.list.update(state);
    this.status.update(state);
    this.composer.update(state);
    if (state.suggestions === this.offered) return;
    this.offered = state.suggestions;
    this.suggestions.replaceChildren(
      ...state.suggestions.map((text) =>
        button(text, () => this.suggest(text), { className: 'suggestion', attributes: { dir: 'auto' } }),
      ),
    );
  }

  private suggest(text: string): void {
    void this.chat.send(text);
    this.focus();
  }

  private acceptDrops(): void {
    this.element.addEventListener('dragover', (event) => {
      if (this.chat.state.can.attach) event.preventDefault();
    });
    this.element.addEventListener('drop', (event) => {
      if (!this.chat.state.can.attach) return;
      event.preventDefault();
      this.composer.tray.add(event.dataTransfer?.files);
    });
  }
}
