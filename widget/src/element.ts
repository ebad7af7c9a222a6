import type { Chat, ChatFailure } from './client/chat-state.js';
import type { ChatOptions } from './client/options.js';
import { ICONS, icon, make } from './view/dom.js';
import { Panel } from './view/panel.js';
import { ENGLISH, type Strings } from './view/strings.js';
import { STYLES } from './view/styles.js';
import { optionsOf } from './view/attributes.js';

/** Makes the chat of an element; tests replace it. */
export type ChatFactory = (options: ChatOptions) => Chat;

let sheet: CSSStyleSheet | undefined;

/** Shared by all elements. A style sheet made by script needs no permission of a Content-Security-Policy. */
function stylesheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLES);
  }
  return sheet;
}

/**
 * `<agent-chat>`: a conversation with an agent, behind a button in the corner of the page (`layout="floating"`) or where the element is
 * (`layout="inline"`). The README of the package describes attributes and properties.
 */
export class AgentChatElement extends HTMLElement {
  static readonly observedAttributes = ['open'];
  /** Set by `index.ts`, so that the element does not depend on the client. */
  static createChat: ChatFactory | undefined;

  private readonly root = this.attachShadow({ mode: 'open' });
  private given: ChatOptions | undefined;
  private texts: Partial<Strings> = {};
  private running: Chat | null = null;
  private panel: Panel | null = null;
  private launcher: HTMLButtonElement | null = null;
  private isStarted = false;

  constructor() {
    super();
    this.root.adoptedStyleSheets = [stylesheet()];
  }

  /** Replaces the attributes, for options that an attribute cannot hold. */
  get options(): ChatOptions | undefined {
    return this.given;
  }

  set options(options: ChatOptions | undefined) {
    this.given = options;
    this.restart();
  }

  get strings(): Partial<Strings> {
    return this.texts;
  }

  set strings(strings: Partial<Strings>) {
    this.texts = strings;
    if (this.running) this.draw(this.running);
  }

  /** Null until the element is in a page and has valid options. */
  get chat(): Chat | null {
    return this.running;
  }

  connectedCallback(): void {
    if (!this.running) this.restart();
  }

  disconnectedCallback(): void {
    // A move within the page disconnects and connects the element in one step.
    queueMicrotask(() => {
      if (!this.isConnected) this.stop();
    });
  }

  attributeChangedCallback(): void {
    this.showPanel();
  }

  open(): void {
    this.setAttribute('open', '');
  }

  close(): void {
    this.removeAttribute('open');
  }

  async newConversation(): Promise<void> {
    await this.running?.newConversation();
  }

  private get isInline(): boolean {
    return this.getAttribute('layout') === 'inline';
  }

  private restart(): void {
    this.stop();
    if (!this.isConnected) return;
    const options = this.given ?? optionsOf(this);
    if (!options) return;
    try {
      if (!AgentChatElement.createChat) throw new Error('agent-chat: createChat is not set');
      this.running = AgentChatElement.createChat(options);
    } catch (error) {
      // Shows the error to the page's developer, in place of the chat and in the console.
      this.root.replaceChildren(
        make('p', { className: 'note', text: error instanceof Error ? error.message : 'agent-chat cannot start' }),
      );
      throw error;
    }
    this.running.onSessionFailed((failure) => this.tell('sessionFailed', failure));
    this.draw(this.running);
  }

  private stop(): void {
    this.panel?.destroy();
    this.running?.close();
    this.running = null;
    this.panel = null;
    this.launcher = null;
    this.isStarted = false;
    this.root.replaceChildren();
  }

  private draw(chat: Chat): void {
    this.panel?.destroy();
    const strings = { ...ENGLISH, ...this.texts };
    const text = (attribute: string, otherwise: string): string => this.getAttribute(attribute) ?? otherwise;
    this.panel = new Panel({
      chat,
      strings,
      heading: text('heading', strings.heading),
      greeting: text('greeting', strings.greeting),
      placeholder: text('placeholder', strings.placeholder),
      imageOrigins: new Set(
        text('image-origins', '')
          .split(/\s+/)
          .filter((origin) => origin !== ''),
      ),
      onSent: () => this.tell('messageSent'),
      ...(this.isInline ? {} : { onClose: () => this.close() }),
    });
    this.launcher = this.isInline ? null : this.makeLauncher(strings);
    this.root.replaceChildren(this.panel.element, ...(this.launcher ? [this.launcher] : []));
    this.showPanel();
  }

  private makeLauncher({ open }: Strings): HTMLButtonElement {
    const launcher = make('button', {
      className: 'launcher',
      attributes: { type: 'button', 'aria-label': open, 'aria-controls': 'panel' },
      onClick: () => this.toggleAttribute('open'),
    });
    launcher.append(icon(ICONS.chat));
    this.panel?.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || event.isComposing) return;
      event.stopPropagation();
      this.close();
    });
    return launcher;
  }

  /** Sends no request before the visitor opens the chat. */
  private showPanel(): void {
    const { panel, running } = this;
    if (!panel || !running) return;
    const isOpen = this.isInline || this.hasAttribute('open');
    const changed = panel.element.hidden === isOpen;
    panel.element.hidden = !isOpen;
    this.launcher?.setAttribute('aria-expanded', String(isOpen));
    if (isOpen && !this.isStarted) {
      this.isStarted = true;
      void running.start();
    }
    if (this.isInline || !changed) return;
    if (isOpen) panel.focus();
    else this.launcher?.focus();
    this.tell(isOpen ? 'chatOpened' : 'chatClosed');
  }

  private tell(type: 'sessionFailed' | 'chatOpened' | 'chatClosed' | 'messageSent', detail?: ChatFailure): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, ...(detail ? { detail } : {}) }));
  }
}
