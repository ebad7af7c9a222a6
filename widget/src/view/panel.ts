import type { Chat, ChatState } from '../client/chat-state.js';
import { Composer } from './composer.js';
import { confirmNewConversation } from './confirm-dialog.js';
import { chooseConversation } from './conversation-list-view.js';
import { button, ICONS, make, setText } from './dom.js';
import { keepFocus } from './focus.js';
import { Header } from './header.js';
import type { Look } from './look.js';
import type { MenuEntry } from './menu.js';
import { MessageList } from './message-list.js';
import { StatusLine } from './status-line.js';
import type { Strings } from './strings.js';
import { sheetOf } from './styles.js';
import { PANEL_STYLES } from './styles-panel.js';
import { downloadTranscript } from './transcript.js';
import type { ViewContext } from './view-context.js';

/** What may change while the chat runs. */
export interface Settings {
  readonly strings: Strings;
  /** BCP 47 */
  readonly locale: string;
  readonly look: Look;
}

export interface SoundSwitch {
  readonly isOn: boolean;
  readonly toggle: () => void;
}

export interface PanelOptions {
  readonly chat: Chat;
  readonly sound: SoundSwitch;
  /** Absent if the panel cannot be closed. */
  readonly onClose?: () => void;
}

/** The whole chat: header, conversation and input. */
export class Panel {
  readonly element: HTMLElement;
  private readonly options: PanelOptions;
  private readonly header: Header;
  private readonly live = make('div', { className: 'hidden', attributes: { 'aria-live': 'polite', role: 'status' } });
  private readonly suggestions = make('div', { className: 'suggestions', attributes: { role: 'group' } });
  private readonly unsubscribe: () => void;
  private readonly shownImages = new Set<string>();
  private settings: Settings;
  private context: ViewContext;
  private list: MessageList;
  private status: StatusLine;
  private composer: Composer;
  /** Its texts are not those of the settings. */
  private isComposerOld = false;
  private offered: readonly string[] = [];

  /** @param element filled with the panel */
  constructor(element: HTMLElement, options: PanelOptions, settings: Settings) {
    const { chat, onClose } = options;
    this.element = element;
    adoptStyles(element);
    this.options = options;
    this.settings = settings;
    this.context = this.contextOf(settings);
    this.header = new Header(settings.strings, () => this.menuEntries(), onClose);
    this.list = this.makeList();
    this.status = this.makeStatus();
    this.composer = this.makeComposer();
    element.append(
      this.header.element,
      this.list.element,
      this.status.element,
      this.suggestions,
      this.composer.element,
      this.live,
    );
    this.acceptDrops();
    this.replaceBrokenAvatar();
    this.drawLabels();
    this.unsubscribe = chat.subscribe(() => this.update());
    this.update();
  }

  focus(): void {
    this.composer.focus();
  }

  toEnd(): void {
    this.list.toEnd();
  }

  /** Draws again what differs. Focus, draft and place in the conversation stay. */
  redraw(settings: Settings): void {
    const before = this.settings;
    this.settings = settings;
    this.drawLabels();
    const isTranslated = before.strings !== settings.strings || before.locale !== settings.locale;
    if (!isTranslated && contentOf(before.look) === contentOf(settings.look)) {
      this.composer.setPlaceholder(settings.look.placeholder);
      return;
    }
    this.context = this.contextOf(settings);
    keepFocus(this.element, () => {
      const goBack = this.redrawConversation();
      if (isTranslated) this.redrawComposer();
      else this.composer.setPlaceholder(settings.look.placeholder);
      this.update();
      goBack();
    });
  }

  destroy(): void {
    this.unsubscribe();
    this.status.stop();
  }

  private contextOf({ strings, locale, look }: Settings): ViewContext {
    return {
      chat: this.options.chat,
      strings,
      locale,
      look,
      isTrustedImage: ({ origin }) => look.imageOrigins.has(origin),
      shownImages: this.shownImages,
      announce: (text) => setText(this.live, text),
    };
  }

  private makeList(): MessageList {
    return new MessageList(this.context, () => this.focus());
  }

  private makeStatus(): StatusLine {
    return new StatusLine(this.context, () => void this.startNew(() => this.status.focus()));
  }

  private makeComposer(): Composer {
    return new Composer(this.context, () => this.list.toEnd());
  }

  private drawLabels(): void {
    const { look, strings } = this.settings;
    this.header.redraw(look, strings);
    this.suggestions.setAttribute('aria-label', strings.suggestions);
  }

  /** @returns shows the reader the same place again, to be called when all is drawn */
  private redrawConversation(): () => void {
    const log = this.list.element.querySelector('.log');
    const isAtEnd = !log || log.scrollHeight - log.clientHeight - log.scrollTop < 48;
    const top = log?.scrollTop ?? 0;
    const list = this.makeList();
    const status = this.makeStatus();
    this.status.stop();
    this.list.element.replaceWith(list.element);
    this.status.element.replaceWith(status.element);
    this.list = list;
    this.status = status;
    return () => {
      if (isAtEnd) return;
      const drawn = (): number => list.element.querySelectorAll('.message').length;
      // A list draws its end first, and the rest by and by.
      for (let before = -1; before !== drawn();) {
        before = drawn();
        list.update(this.options.chat.state);
      }
      list.element.querySelector('.log')?.scrollTo({ top, behavior: 'instant' });
    };
  }

  private redrawComposer(): void {
    // Files belong to their tray, so its texts stay as they are until the files are gone.
    this.isComposerOld = !this.composer.tray.isEmpty;
    if (this.isComposerOld) {
      this.composer.setPlaceholder(this.settings.look.placeholder);
      return;
    }
    const draft = this.composer.element.querySelector('textarea');
    const { isQueued } = this.composer;
    const composer = this.makeComposer();
    this.composer.element.replaceWith(composer.element);
    this.composer = composer;
    if (!draft) return;
    composer.text = draft.value;
    composer.isQueued = isQueued;
    composer.element.querySelector('textarea')?.setSelectionRange(draft.selectionStart, draft.selectionEnd);
  }

  private update(): void {
    const { state } = this.options.chat;
    this.list.update(state);
    this.status.update(state);
    this.drawSuggestions(state);
    if (this.isComposerOld && this.composer.tray.isEmpty) keepFocus(this.element, () => this.redrawComposer());
    // The last one, because it may send a message, which changes the state.
    this.composer.update(state);
  }

  private drawSuggestions({ suggestions }: ChatState): void {
    if (suggestions === this.offered) return;
    this.offered = suggestions;
    this.suggestions.replaceChildren(
      ...suggestions.map((text) =>
        button(text, () => this.suggest(text), { className: 'suggestion', attributes: { dir: 'auto' } }),
      ),
    );
  }

  private suggest(text: string): void {
    void this.options.chat.send(text);
    this.toEnd();
    this.focus();
  }

  private menuEntries(): readonly MenuEntry[] {
    const { chat, sound } = this.options;
    const { strings, look } = this.settings;
    const { messages, can } = chat.state;
    const entry = (label: string, path: string, onClick: () => void): MenuEntry => ({ label, icon: path, onClick });
    return [
      entry(strings.newConversation, ICONS.edit, () => void this.startNew(() => this.header.menu.focus())),
      ...(can.listConversations ? [entry(strings.conversations, ICONS.history, () => void this.showHistory())] : []),
      ...(messages.length > 0 ? [entry(strings.transcript, ICONS.download, () => this.download())] : []),
      ...(look.hasSound
        ? [
            sound.isOn
              ? entry(strings.soundOff, ICONS.mute, sound.toggle)
              : entry(strings.soundOn, ICONS.sound, sound.toggle),
          ]
        : []),
    ];
  }

  /** @param goBack moves the focus to where the visitor came from */
  private async startNew(goBack: () => void): Promise<void> {
    const { chat } = this.options;
    if (chat.state.messages.length > 0 && !(await confirmNewConversation(this.element, this.settings.strings))) {
      goBack();
      return;
    }
    this.focus();
    await chat.newConversation();
  }

  private async showHistory(): Promise<void> {
    const threadId = await chooseConversation(this.element, this.context);
    if (threadId === null) {
      this.header.menu.focus();
      return;
    }
    this.focus();
    await this.options.chat.openConversation(threadId);
  }

  private download(): void {
    const { strings, locale, look } = this.settings;
    downloadTranscript(this.options.chat.state.messages, { strings, locale, name: look.name });
  }

  /** The header shows the letter of the name in place of a picture that cannot be loaded. */
  private replaceBrokenAvatar(): void {
    // The event does not bubble.
    this.header.element.addEventListener(
      'error',
      () => this.header.redraw({ ...this.settings.look, avatar: null }, this.settings.strings),
      { capture: true },
    );
  }

  private acceptDrops(): void {
    const { element } = this;
    const mark = (isOver: boolean): void => {
      if (isOver) element.setAttribute('data-drop', this.settings.strings.dropFiles);
      else element.removeAttribute('data-drop');
    };
    element.addEventListener('dragover', (event) => {
      if (!this.options.chat.state.can.attach || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      mark(true);
    });
    element.addEventListener('dragleave', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node) || !element.contains(relatedTarget)) mark(false);
    });
    element.addEventListener('drop', (event) => {
      mark(false);
      if (!this.options.chat.state.can.attach) return;
      event.preventDefault();
      this.composer.tray.add(event.dataTransfer?.files);
    });
  }
}

let sheet: CSSStyleSheet | undefined;

function adoptStyles(element: HTMLElement): void {
  const root = element.getRootNode();
  if (!(root instanceof ShadowRoot)) return;
  sheet ??= sheetOf(PANEL_STYLES);
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
}

/** The looks that the drawn messages depend on. */
function contentOf({ name, avatar, greeting, starters, imageOrigins }: Look): string {
  return JSON.stringify([name, avatar, greeting, starters, [...imageOrigins]]);
}
