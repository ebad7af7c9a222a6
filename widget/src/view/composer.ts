import { type ChatState, takesMessages } from '../client/chat-state.js';
import { ICONS, iconButton, make } from './dom.js';
import { FileTray } from './file-tray.js';
import type { ViewContext } from './view-context.js';

const MAX_CHARACTERS = 200_000;

/** The input of the visitor. */
export class Composer {
  readonly element: HTMLFormElement;
  readonly tray: FileTray;
  private readonly context: ViewContext;
  private readonly input: HTMLTextAreaElement;
  private readonly send: HTMLButtonElement;
  private readonly onSent: () => void;

  constructor(context: ViewContext, placeholder: string, onSent: () => void) {
    const { strings } = context;
    this.context = context;
    this.onSent = onSent;
    this.tray = new FileTray(context, () => this.look());
    this.input = make('textarea', {
      className: 'input',
      attributes: {
        rows: '1',
        placeholder,
        'aria-label': strings.message,
        maxlength: String(MAX_CHARACTERS),
        dir: 'auto',
      },
    });
    this.send = iconButton(strings.send, ICONS.send, () => undefined, {
      className: 'send',
      attributes: { type: 'submit' },
    });
    const row = make('div', { className: 'row' }, this.tray.button, this.input, this.send);
    this.element = make('form', { className: 'composer' }, this.tray.element, row);
    this.element.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    this.input.addEventListener('keydown', (event) => {
      // Enter may end the composition of a character, which must not send the message.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.submit();
    });
    this.input.addEventListener('input', () => this.look());
    this.input.addEventListener('paste', (event) => this.tray.add(event.clipboardData?.files));
  }

  update({ can }: ChatState): void {
    this.tray.show(can.attach);
    this.look();
  }

  focus(): void {
    this.input.focus();
  }

  /** The current text. */
  set text(text: string) {
    this.input.value = text;
    this.look();
  }

  /** Reads the current state, not the drawn one, which may be a frame older: a message that the chat does not accept would be lost. */
  private get canSend(): boolean {
    return takesMessages(this.context.chat.state) && this.input.value.trim() !== '' && !this.tray.isUploading;
  }

  private look(): void {
    // Not `disabled`, which would take the focus from the visitor who has just pressed the button.
    this.send.setAttribute('aria-disabled', String(!this.canSend));
    this.input.style.height = 'auto';
    this.input.style.height = `${String(this.input.scrollHeight)}px`;
  }

  private submit(): void {
    if (!this.canSend) return;
    const { value } = this.input;
    this.text = '';
    void this.context.chat.send(value, this.tray.take());
    this.onSent();
  }
}
