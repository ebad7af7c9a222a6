import { AgentChatEvents } from './element-events.js';
import { type Chat, type ChatEvent, takesMessages } from './client/chat-state.js';
import type { ChatOptions } from './client/options.js';
import { isSame, lookOf, OBSERVED, optionsOf } from './view/attributes.js';
import { make } from './view/dom.js';
import { Frame, type FrameSettings } from './view/frame.js';
import { directionOf, languageOf, loadStrings } from './view/languages.js';
import { ancestorsOf, watchPage } from './view/page-watch.js';
import { ENGLISH, type Strings } from './view/strings.js';
import { stylesheet } from './view/styles.js';
import { TabMemory } from './view/tab-memory.js';

/** Makes the chat of an element; tests replace it. */
export type ChatFactory = (options: ChatOptions) => Chat;

/** A visitor waits at most so long for the texts of a language, and reads English then. */
const LANGUAGE_MS = 2000;

/**
 * `<agent-chat>`: a conversation with an agent, behind a button in the corner of the page (`layout="floating"`) or where the element is
 * (`layout="inline"`). The README of the package describes attributes and properties.
 */
export class AgentChatElement extends AgentChatEvents {
  static readonly observedAttributes = OBSERVED;
  /** Set by `index.ts`, so that the element does not depend on the client. */
  static createChat: ChatFactory | undefined;

  private readonly root = this.attachShadow({ mode: 'open' });
  private given: ChatOptions | undefined;
  private texts: Partial<Strings> = {};
  private language: { readonly strings: Strings; readonly locale: string } = { strings: ENGLISH, locale: 'en' };
  /** Of the texts that are loaded or being loaded. */
  private tag: string | null = null;
  private isLoading = false;
  private shown: Strings = ENGLISH;
  /** The options of the running chat, which reads their functions at each use. */
  private used: ChatOptions | null = null;
  private running: Chat | null = null;
  private memory = new TabMemory('default');
  private frame: Frame | null = null;
  private isFrameInline = false;
  private endWatch: (() => void) | null = null;
  private isReady = false;
  private isPlanned = false;
  private wasOpen = false;
  /** How the next change of the panel happens: see `Frame.show`. */
  private how: 'focus' | 'still' | null = null;

  constructor() {
    super();
    this.root.adoptedStyleSheets = [stylesheet()];
  }

  /** Replaces the attributes, for options that an attribute cannot hold. An equal object does not restart the chat. */
  get options(): ChatOptions | undefined {
    return this.given;
  }

  set options(options: ChatOptions | undefined) {
    this.given = options;
    if (this.adopt()) this.prepare();
  }

  get strings(): Partial<Strings> {
    return this.texts;
  }

  set strings(given: Partial<Strings> | undefined) {
    const strings = given ?? {};
    if (isSame(strings, this.texts)) return;
    this.texts = strings;
    this.mergeStrings();
    this.prepare();
  }

  /** Null until the element is in a page and has valid options. */
  get chat(): Chat | null {
    return this.running;
  }

  /**
   * Opens the panel and moves the focus into it. A boolean may be assigned, because frameworks assign properties where HTML has
   * attributes; it does not move the focus.
   */
  get open(): () => void {
    return () => this.toggle(true);
  }

  set open(isOpen: unknown) {
    this.toggleAttribute('open', isOpen !== false && isOpen !== null && isOpen !== undefined);
  }

  close(): void {
    this.removeAttribute('open');
  }

  /**
   * Sends a message of the visitor, and starts the chat if needed; does not open the panel. Resolves when the reply has ended or failed.
   * @throws Error if there is no chat, or if it cannot start
   */
  async send(text: string): Promise<void> {
    const chat = this.running;
    if (!chat) throw new Error('agent-chat: the element is not in a page, or has no valid options');
    void chat.start();
    await untilFree(chat);
    await chat.send(text);
  }

  async newConversation(): Promise<void> {
    await this.running?.newConversation();
  }

  connectedCallback(): void {
    this.takeEarlyProperties('open');
    if (!this.running) this.wasOpen = this.hasAttribute('open');
    this.takeEarlyProperties('strings', 'options');
    // The element may have moved to other ancestors.
    if (this.endWatch) this.watch();
    this.apply();
  }

  disconnectedCallback(): void {
    // A move within the page disconnects and connects the element in one step.
    queueMicrotask(() => {
      if (!this.isConnected) this.stop();
    });
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (name === 'open') {
      if ((before === null) !== (after === null)) this.showPanel();
    } else if (before !== after) this.plan();
  }

  private get isInline(): boolean {
    return this.getAttribute('layout') === 'inline';
  }

  /** Whether the panel stays open over the pages of the tab. */
  private get remembersOpen(): boolean {
    return !this.isInline && this.getAttribute('restore-open') !== 'false' && this.used?.remember !== 'never';
  }

  /** Properties that a page has set before the element was defined hide those of the class. */
  private takeEarlyProperties(...names: readonly ('open' | 'strings' | 'options')[]): void {
    for (const name of names) {
      const early = Object.getOwnPropertyDescriptor(this, name);
      if (!early) continue;
      Reflect.deleteProperty(this, name);
      Reflect.set(this, name, early.value);
    }
  }

  private toggle(isOpen: boolean): void {
    this.how = isOpen ? 'focus' : null;
    this.toggleAttribute('open', isOpen);
    // The panel may have been open.
    if (this.frame) this.how = null;
  }

  /** A page often changes several attributes in a row. */
  private plan(): void {
    if (this.isPlanned) return;
    this.isPlanned = true;
    queueMicrotask(() => {
      this.isPlanned = false;
      this.apply();
    });
  }

  private apply(): void {
    this.adopt();
    this.prepare();
  }

  /** Takes the current options. @returns whether they differ, so that another chat has been started */
  private adopt(): boolean {
    if (!this.isConnected) return false;
    const options = this.given ?? optionsOf(this);
    if (options && this.used && isSame(options, this.used)) {
      Object.assign(this.used, options);
      return false;
    }
    this.restart(options);
    return true;
  }

  private restart(options: ChatOptions | undefined): void {
    this.stop();
    if (!options) return;
    this.used = { ...options };
    try {
      if (!AgentChatElement.createChat) throw new Error('agent-chat: createChat is not set');
      this.running = AgentChatElement.createChat(this.used);
    } catch (error) {
      // Shows the error to the page's developer, in place of the chat and in the console.
      this.root.replaceChildren(
        make('p', { className: 'note', text: error instanceof Error ? error.message : 'agent-chat cannot start' }),
      );
      throw error;
    }
    this.listen(this.running);
    this.memory = new TabMemory(options.storageKey ?? 'default');
    if (this.remembersOpen && this.memory.get('open') !== null) {
      this.wasOpen = true;
      this.setAttribute('open', '');
    }
  }

  private listen(chat: Chat): void {
    chat.on((event) => this.pass(event));
    chat.subscribe(() => {
      if (this.isReady || !takesMessages(chat.state)) return;
      this.isReady = true;
      this.tell('ready', null);
    });
  }

  private pass(event: ChatEvent): void {
    switch (event.type) {
      case 'messageSent':
        return this.tell('messageSent', { text: event.message.text });
      case 'replyFinished': {
        const { text, status, id } = event.message;
        this.frame?.onReply();
        return this.tell('replyFinished', { text, status, messageId: id });
      }
      case 'chatError':
      case 'sessionFailed':
        return this.tell(event.type, event.failure);
      default:
        return event satisfies never;
    }
  }

  private stop(): void {
    this.frame?.destroy();
    this.endWatch?.();
    this.running?.close();
    this.running = null;
    this.used = null;
    this.frame = null;
    this.endWatch = null;
    this.isReady = false;
    this.root.replaceChildren();
  }

  /** Draws as soon as the texts of the page's language are there. */
  private prepare(): void {
    if (!this.running) return;
    const tag = languageOf(this);
    if (tag === this.tag) {
      if (this.frame || !this.isLoading) this.draw();
      return;
    }
    this.tag = tag;
    this.isLoading = true;
    void this.load(tag);
    if (this.frame) this.draw();
    else
      setTimeout(() => {
        if (!this.frame) this.draw();
      }, LANGUAGE_MS);
  }

  private async load(tag: string): Promise<void> {
    const language = await loadStrings(tag);
    if (this.tag !== tag) return;
    this.isLoading = false;
    this.language = language;
    this.mergeStrings();
    this.draw();
  }

  private mergeStrings(): void {
    const given = Object.entries<string | undefined>(this.texts).filter(([, text]) => text !== undefined);
    this.shown = { ...this.language.strings, ...Object.fromEntries(given) };
  }

  private draw(): void {
    const { running } = this;
    if (!running) return;
    if (this.frame && this.isFrameInline === this.isInline) {
      this.frame.redraw(this.settings());
      return;
    }
    this.frame?.destroy();
    this.isFrameInline = this.isInline;
    const { isFrameInline: isInline, memory } = this;
    this.frame = new Frame(
      { chat: running, memory, isInline, onToggle: (isOpen) => this.toggle(isOpen) },
      this.settings(),
    );
    this.root.replaceChildren(this.frame.element);
    this.frame.recolor();
    if (!this.endWatch) this.watch();
    this.how ??= 'still';
    this.showPanel();
  }

  private watch(): void {
    this.endWatch?.();
    this.endWatch = watchPage(this, {
      onColors: () => this.frame?.recolor(),
      onLanguage: () => this.plan(),
    });
  }

  private settings(): FrameSettings {
    const value = (name: string): string | null => this.getAttribute(name);
    const given = [this, ...ancestorsOf(this)].find((each) => each.matches('[dir=rtl],[dir=ltr]'))?.getAttribute('dir');
    return {
      strings: this.shown,
      locale: this.language.locale,
      look: lookOf(this, this.shown),
      direction: (given ?? directionOf(this.tag ?? 'en')) === 'rtl' ? 'rtl' : 'ltr',
      accent: value('accent'),
      radius: value('radius'),
      font: value('font'),
    };
  }

  /** Sends no request before the panel opens. */
  private showPanel(): void {
    const { frame, running, how } = this;
    if (!frame || !running) return;
    const isOpen = this.isInline || this.hasAttribute('open');
    this.how = null;
    frame.show(isOpen, how);
    if (isOpen) void running.start();
    if (this.isInline) return;
    if (this.remembersOpen) this.memory.set('open', isOpen ? 'yes' : null);
    if (isOpen === this.wasOpen) return;
    this.wasOpen = isOpen;
    this.tell(isOpen ? 'opened' : 'closed', null);
  }
}

/** Resolves when the chat takes a message. @throws Error if it has failed or is closed */
function untilFree(chat: Chat): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const { status, failure } = chat.state;
      if (takesMessages(chat.state)) resolve();
      else if (status === 'failed' || status === 'idle')
        reject(new Error(`agent-chat: ${failure?.message ?? 'the chat has been closed'}`));
      else return;
      end();
    };
    const end = chat.subscribe(look);
    look();
  });
}

declare global {
  interface HTMLElementTagNameMap {
    'agent-chat': AgentChatElement;
  }
}
