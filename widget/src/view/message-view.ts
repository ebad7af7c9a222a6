import type { ChatMessage, ChatState } from '../client/chat-state.js';
import type { ReactionKind } from '../client/options.js';
import { type ComponentView, componentView } from './component-view.js';
import { button, ICONS, iconButton, make, setText } from './dom.js';
import { linkView, MarkdownView } from './markdown-view.js';
import { ToolView } from './tool-view.js';
import type { ViewContext } from './view-context.js';

/** Prefix of the tools that show a component. */
const COMPONENT_TOOL = 'present_';

/** The position of a message, which decides on its actions. */
export interface Place {
  readonly isLast: boolean;
  /** The visitor's next message; null for the last message. */
  readonly answer: string | null;
}

/** One message, drawn once and then updated. */
export class MessageView {
  readonly element: HTMLElement;
  private readonly context: ViewContext;
  private readonly text: MarkdownView | null;
  private readonly bubble: HTMLElement;
  private readonly tools = new Map<string, ToolView>();
  private readonly toolList = make('div', { className: 'tools' });
  private readonly components = new Map<string, ComponentView>();
  private readonly componentList = make('div', { className: 'components' });
  private readonly noteText = make('span');
  private readonly retry: HTMLButtonElement;
  private readonly note: HTMLElement;
  private readonly reactions: HTMLElement;
  private readonly thumbs: ReadonlyMap<ReactionKind, HTMLButtonElement>;
  private drawn: ChatMessage | null = null;

  constructor(message: ChatMessage, context: ViewContext) {
    const { strings } = context;
    this.context = context;
    const isReply = message.role === 'assistant';
    this.text = isReply ? new MarkdownView(context) : null;
    this.bubble = make('div', { className: 'bubble', attributes: { dir: 'auto' } }, this.text?.element);
    this.retry = button(strings.tryAgain, () => void context.chat.retry(message.key), { className: 'link' });
    this.note = make('p', { className: 'note' }, this.noteText, ' ', this.retry);
    this.thumbs = new Map([
      ['thumbs_up', this.thumb('thumbs_up', strings.thumbsUp, ICONS.up)],
      ['thumbs_down', this.thumb('thumbs_down', strings.thumbsDown, ICONS.down)],
    ]);
    this.reactions = make('div', { className: 'reactions' }, ...this.thumbs.values());
    const who = make('span', { className: 'hidden', text: isReply ? strings.agent : strings.you });
    const parts = isReply
      ? [this.toolList, this.bubble, this.componentList, this.note, this.reactions]
      : [this.bubble, this.note];
    this.element = make(
      'div',
      { className: `message ${message.role}`, attributes: { role: 'article' } },
      who,
      ...parts,
    );
    if (!isReply) this.drawUser(message);
  }

  update(message: ChatMessage, state: ChatState, place: Place): void {
    if (message !== this.drawn) {
      this.drawn = message;
      this.drawTools(message);
      this.drawComponents(message);
      this.text?.update(message.text);
      this.drawNote(message);
    }
    this.retry.hidden = message.status !== 'unsent' || state.status !== 'ready';
    const isTyping = message.role === 'assistant' && message.status === 'streaming' && message.text === '';
    this.bubble.classList.toggle('typing', isTyping);
    this.bubble.hidden = message.text === '' && !isTyping;
    const isOpen = place.isLast && state.status === 'ready';
    for (const component of this.components.values()) component.update(isOpen, place.answer);
    this.drawReactions(message, state);
  }

  private drawUser({ text, attachments }: ChatMessage): void {
    this.bubble.append(make('p', { className: 'plain', text }));
    const files = attachments.map(({ name, url }) => make('li', {}, linkView(url, [name])));
    if (files.length > 0) this.bubble.append(make('ul', { className: 'files' }, ...files));
  }

  private drawTools({ tools }: ChatMessage): void {
    for (const tool of tools) {
      // The reply already shows the component.
      if (tool.name.startsWith(COMPONENT_TOOL)) continue;
      let view = this.tools.get(tool.id);
      if (!view) {
        view = new ToolView(this.context.strings);
        this.tools.set(tool.id, view);
        this.toolList.append(view.element);
      }
      view.update(tool);
    }
  }

  private drawComponents({ components, text }: ChatMessage): void {
    for (const component of components) {
      if (this.components.has(component.id)) continue;
      const view = componentView(component, this.context, text.includes(component.fallback));
      this.components.set(component.id, view);
      this.componentList.append(view.element);
    }
  }

  private drawNote(message: ChatMessage): void {
    const { strings } = this.context;
    const cutOff = message.role === 'assistant' && message.status === 'incomplete' ? strings.incomplete : '';
    const text = message.status === 'unsent' ? strings.unsent : cutOff;
    this.note.hidden = text === '';
    setText(this.noteText, text);
  }

  private drawReactions({ id, status, reaction, role, text }: ChatMessage, { can }: ChatState): void {
    this.reactions.hidden = !can.react || id === null || role !== 'assistant' || status === 'streaming' || text === '';
    for (const [kind, thumb] of this.thumbs) thumb.setAttribute('aria-pressed', String(kind === reaction));
  }

  private thumb(kind: ReactionKind, label: string, path: string): HTMLButtonElement {
    return iconButton(
      label,
      path,
      () => {
        const message = this.drawn;
        if (message) void this.context.chat.react(message.key, message.reaction === kind ? null : kind);
      },
      { className: 'thumb' },
    );
  }
}
