import type { ChatMessage } from '../client/chat-state.js';
import type { ReactionKind } from '../client/options.js';
import { icon, ICONS, iconButton, make } from './dom.js';
import { feedbackForm } from './feedback-form.js';
import type { ViewContext } from './view-context.js';

/** How long a button shows that it has copied. */
const COPIED_MS = 2000;

/** What the visitor can do with a finished reply: copy it and rate it. */
export class MessageActions {
  /** The buttons. */
  readonly element: HTMLElement;
  /** What a rating leads to: a form, thanks or a problem. */
  readonly below = make('div', { className: 'rating' });
  private readonly context: ViewContext;
  private readonly copy: HTMLButtonElement;
  private readonly thumbs: ReadonlyMap<ReactionKind, HTMLButtonElement>;
  private message: ChatMessage;

  constructor(message: ChatMessage, context: ViewContext) {
    const { strings } = context;
    this.message = message;
    this.context = context;
    this.copy = copyButton(() => this.message.text, context);
    this.thumbs = new Map([
      ['thumbs_up', this.thumb('thumbs_up', strings.thumbsUp, ICONS.up)],
      ['thumbs_down', this.thumb('thumbs_down', strings.thumbsDown, ICONS.down)],
    ]);
    this.element = make('div', { className: 'actions' }, this.copy, ...this.thumbs.values());
  }

  update(message: ChatMessage, canReact: boolean): void {
    this.message = message;
    const { status, id, text, reaction } = message;
    this.element.hidden = status === 'streaming' || text === '';
    // Pages that are not secure have no clipboard.
    this.copy.hidden = !isSecureContext;
    for (const [kind, thumb] of this.thumbs) {
      thumb.hidden = !canReact || id === null;
      thumb.setAttribute('aria-pressed', String(kind === reaction));
    }
  }

  private thumb(kind: ReactionKind, label: string, path: string): HTMLButtonElement {
    return iconButton(label, path, () => void this.rate(kind), { className: 'action thumb' });
  }

  private async rate(kind: ReactionKind): Promise<void> {
    const { chat, strings, announce } = this.context;
    const isTakenBack = this.message.reaction === kind;
    this.below.replaceChildren();
    const stored = chat.react(this.message.key, isTakenBack ? null : kind);
    if (kind === 'thumbs_down' && !isTakenBack) this.askWhy();
    if (await stored) return;
    this.below.replaceChildren(make('p', { className: 'note', text: strings.failedFeedback }));
    announce(strings.failedFeedback);
  }

  private askWhy(): void {
    const { chat, strings, announce } = this.context;
    const close = (...instead: readonly Node[]): void => {
      this.below.replaceChildren(...instead);
      this.thumbs.get('thumbs_down')?.focus();
    };
    const form = feedbackForm(this.context, {
      send: (comment) => chat.react(this.message.key, 'thumbs_down', comment),
      onSent: () => {
        close(make('p', { className: 'thanks', text: strings.feedbackThanks }));
        announce(strings.feedbackThanks);
      },
      onClose: () => close(),
    });
    this.below.replaceChildren(form);
    form.querySelector('textarea')?.focus({ preventScroll: true });
    form.scrollIntoView({ block: 'nearest' });
  }
}

function copyButton(textOf: () => string, { strings, announce }: ViewContext): HTMLButtonElement {
  const show = (label: string, path: string): void => {
    made.setAttribute('aria-label', label);
    made.title = label;
    made.replaceChildren(icon(path));
  };
  const copied = (): void => {
    show(strings.copied, ICONS.check);
    announce(strings.copied);
    setTimeout(() => show(strings.copyMessage, ICONS.copy), COPIED_MS);
  };
  const made = iconButton(
    strings.copyMessage,
    ICONS.copy,
    // A browser that refuses the clipboard leaves the button as it is.
    () => void navigator.clipboard.writeText(textOf()).then(copied, () => undefined),
    { className: 'action' },
  );
  return made;
}
