import { type ChatState, takesMessages } from '../client/chat-state.js';
import { ICONS, icon, iconButton, make } from './dom.js';
import { isOfComposition } from './focus.js';
import { FileTray } from './file-tray.js';
import type { ViewContext } from './view-context.js';

const MAX_CHARACTERS = 200_000;

/** While a reply is under way, or a message waits to be sent. */
const STOPPABLE: ReadonlySet<ChatState['status']> = new Set(['responding', 'reconnecting', 'waiting']);

type Press = 'send' | 'stop' | 'stopping';

/** The input of the visitor. */
export class Composer {
  readonly element: HTMLFormElement;
  readonly tray: FileTray;
  private readonly context: ViewContext;
  private readonly input: HTMLTextAreaElement;
  private readonly send: HTMLButtonElement;
  private readonly onSent: () => void;
  /** The visitor has sent the message before the chat was ready; it goes when the chat is, unless the visitor changes it. */
  isQueued = false;
  private shown: Press = 'send';

  constructor(context: ViewContext, onSent: () => void) {
    const { strings, look } = context;
    this.context = context;
    this.onSent = onSent;
    this.tray = new FileTray(context, () => this.change());
    this.input = make('textarea', {
      className: 'input',
      attributes: {
        rows: '1',
        placeholder: look.placeholder,
        'aria-label': strings.message,
        maxlength: String(MAX_CHARACTERS),
        dir: 'auto',
        enterkeyhint: 'send',
      },
    });
    this.send = iconButton(strings.send, ICONS.send, () => undefined, { className: 'send' });
    // The second click of a double click would stop the reply to the message that the first one has sent.
    this.send.addEventListener('click', ({ detail }) => {
      if (detail <= 1) this.press();
    });
    const row = make('div', { className: 'row' }, this.tray.button, this.input, this.send);
    this.element = make('form', { className: 'composer' }, this.tray.element, row);
    this.listen();
  }

  update({ can, status }: ChatState): void {
    this.tray.show(can.attach);
    if (status === 'failed') this.isQueued = false;
    if (this.isQueued) this.submit();
    this.look();
  }

  focus(): void {
    this.input.focus();
  }

  /** The draft. */
  get text(): string {
    return this.input.value;
  }

  set text(text: string) {
    this.input.value = text;
    this.grow();
    this.look();
  }

  setPlaceholder(text: string): void {
    this.input.placeholder = text;
  }

  /** Reads the current state, not the drawn one, which may be a frame older: a message that the chat does not accept would be lost. */
  private get canSend(): boolean {
    return takesMessages(this.context.chat.state) && this.isComplete;
  }

  private get isComplete(): boolean {
    return (this.text.trim() !== '' || this.tray.hasFiles) && !this.tray.isUploading;
  }

  private get next(): Press {
    const { status, isStopping } = this.context.chat.state;
    if (!STOPPABLE.has(status)) return 'send';
    return isStopping ? 'stopping' : 'stop';
  }

  private listen(): void {
    this.element.addEventListener('submit', (event) => event.preventDefault());
    this.input.addEventListener('keydown', (event) => {
      // Enter may end the composition of a character, which must not send the message.
      if (event.key !== 'Enter' || event.shiftKey || isOfComposition(event)) return;
      event.preventDefault();
      this.submit();
    });
    this.input.addEventListener('input', () => {
      this.grow();
      this.change();
    });
    this.input.addEventListener('paste', (event) => {
      const { clipboardData } = event;
      // Office programs add a picture of the text that was copied.
      if (!clipboardData || clipboardData.files.length === 0 || clipboardData.types.includes('text/plain')) return;
      event.preventDefault();
      this.tray.add(clipboardData.files);
    });
  }

  private press(): void {
    if (this.next === 'send') this.submit();
    else if (this.next === 'stop') void this.context.chat.stop();
  }

  private change(): void {
    this.isQueued = false;
    this.look();
  }

  /** One button for both, so that the focus stays where it is. */
  private look(): void {
    const { strings } = this.context;
    const { next } = this;
    // Not `disabled`, which would take the focus from the visitor who has just pressed the button.
    this.send.setAttribute('aria-disabled', String(next === 'stopping' || (next === 'send' && !this.canSend)));
    this.send.setAttribute('aria-busy', String(this.isQueued));
    if (next === this.shown) return;
    this.shown = next;
    const label = strings[next];
    this.send.setAttribute('aria-label', label);
    this.send.title = label;
    this.send.classList.toggle('stop', next !== 'send');
    this.send.replaceChildren(icon(next === 'send' ? ICONS.send : ICONS.stop));
  }

  /** For browsers whose style sheets cannot do it. */
  private grow(): void {
    if (CSS.supports('field-sizing', 'content')) return;
    this.input.style.setProperty('block-size', 'auto');
    this.input.style.setProperty('block-size', `${String(this.input.scrollHeight)}px`);
  }

  private submit(): void {
    if (!this.canSend) {
      const { status } = this.context.chat.state;
      this.isQueued ||= (status === 'idle' || status === 'connecting') && this.isComplete;
      this.look();
      return;
    }
    const { text } = this;
    this.isQueued = false;
    this.text = '';
    void this.context.chat.send(text, this.tray.take());
    this.onSent();
  }
}
