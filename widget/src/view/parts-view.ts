import type { Approval, ChatMessage, MessagePart } from '../client/chat-state.js';
import { readText } from './announcements.js';
import type { ApprovalDesk } from './approval-card.js';
import { type ComponentView, componentView } from './component-view.js';
import { make } from './dom.js';
import { MarkdownView } from './markdown-view.js';
import { approvalsByTool, ToolPart } from './tool-part.js';
import type { ViewContext } from './view-context.js';

/** Prefix of the tools that show a component: the reply has the component itself. */
const COMPONENT_TOOL = 'present_';

export interface KeyedPart {
  /** Stays the same while the reply grows. */
  readonly key: string;
  readonly part: MessagePart;
}

/** The parts that are drawn, each once: no blank texts and no calls that show a component. */
export function drawnParts(parts: readonly MessagePart[]): KeyedPart[] {
  const found = new Map<string, KeyedPart>();
  let texts = 0;
  for (const part of parts) {
    const key = keyOf(part, texts);
    if (key === null || found.has(key)) continue;
    if (part.kind === 'text') texts += 1;
    found.set(key, { key, part });
  }
  return [...found.values()];
}

function keyOf(part: MessagePart, texts: number): string | null {
  switch (part.kind) {
    case 'text':
      return part.text.trim() === '' ? null : `text:${String(texts)}`;
    case 'tool':
      return part.tool.name.startsWith(COMPONENT_TOOL) ? null : `tool:${part.tool.id}`;
    case 'component':
      return `component:${part.component.id}`;
    default:
      return part satisfies never;
  }
}

/** What decides, beside the message, how its parts look. */
export interface PartsAround {
  /** Those that calls of this message may wait for. */
  readonly approvals: readonly Approval[];
  /** The visitor's next message; null if there is none. */
  readonly answer: string | null;
  /** The visitor may answer now. */
  readonly isOpen: boolean;
  /** Decisions on calls of this message may be under way. */
  readonly isAnswering: boolean;
}

type PartView =
  | { readonly kind: 'text'; readonly element: HTMLElement; readonly markdown: MarkdownView }
  | { readonly kind: 'tool'; readonly element: HTMLElement; readonly tool: ToolPart }
  | { readonly kind: 'component'; readonly element: HTMLElement; readonly component: ComponentView };

/** The parts of a reply in their order. A part keeps its nodes, and so selection and focus, while others change. */
export class PartsView {
  readonly element = make('div', { className: 'parts' });
  private readonly context: ViewContext;
  private readonly desk: ApprovalDesk;
  private readonly views = new Map<string, PartView>();

  constructor(context: ViewContext, desk: ApprovalDesk) {
    this.context = context;
    this.desk = desk;
  }

  /** @returns whether anything is drawn */
  update(message: ChatMessage, around: PartsAround): boolean {
    const drawn = drawnParts(message.parts);
    this.removeGone(drawn);
    const approvals = approvalsByTool(
      message.parts.flatMap((part) => (part.kind === 'tool' ? [part.tool] : [])),
      around.approvals,
    );
    drawn.forEach(({ key, part }, index) => {
      const view = this.viewOf(key, part, message);
      const place = this.element.children.item(index);
      if (place !== view.element) this.element.insertBefore(view.element, place);
      const isWriting = message.status === 'streaming' && index === drawn.length - 1;
      updatePart(view, part, { ...around, isWriting, approvals });
    });
    return drawn.length > 0;
  }

  /** Resolves when the texts are drawn to their end. */
  async whenDrawn(): Promise<void> {
    const texts = [...this.views.values()].flatMap((view) => (view.kind === 'text' ? [view.markdown] : []));
    await Promise.all(texts.map((text) => text.whenDrawn()));
  }

  /** What a screen reader says of the reply. */
  spoken({ parts }: ChatMessage): string {
    return drawnParts(parts)
      .map(({ key, part }) => {
        const view = this.views.get(key);
        if (view?.kind === 'component') return view.component.spoken ?? readText(view.element);
        return view?.kind === 'text' && part.kind === 'text' ? readText(view.element) : '';
      })
      .filter((text) => text !== '')
      .join(' ');
  }

  private viewOf(key: string, part: MessagePart, { text }: ChatMessage): PartView {
    const known = this.views.get(key);
    if (known) return known;
    const made = this.make(part, text);
    this.views.set(key, made);
    return made;
  }

  private make(part: MessagePart, text: string): PartView {
    switch (part.kind) {
      case 'text': {
        const markdown = new MarkdownView(this.context);
        const element = make('div', { className: 'bubble' }, markdown.element);
        return { kind: 'text', element, markdown };
      }
      case 'tool': {
        const tool = new ToolPart(this.context, this.desk);
        return { kind: 'tool', element: tool.element, tool };
      }
      case 'component': {
        const component = componentView(part.component, this.context, text.includes(part.component.fallback));
        return { kind: 'component', element: component.element, component };
      }
      default:
        return part satisfies never;
    }
  }

  private removeGone(drawn: readonly KeyedPart[]): void {
    const keys = new Set(drawn.map(({ key }) => key));
    for (const [key, { element }] of this.views) {
      if (keys.has(key)) continue;
      element.remove();
      this.views.delete(key);
    }
  }
}

function updatePart(
  view: PartView,
  part: MessagePart,
  around: Omit<PartsAround, 'approvals'> & {
    readonly isWriting: boolean;
    readonly approvals: ReadonlyMap<string, Approval>;
  },
): void {
  const { answer, isOpen, isWriting, isAnswering, approvals } = around;
  if (view.kind === 'text' && part.kind === 'text') {
    view.markdown.update(part.text, !isWriting);
    view.element.classList.toggle('writing', isWriting);
  } else if (view.kind === 'tool' && part.kind === 'tool') {
    view.tool.update(part.tool, approvals.get(part.tool.id), isAnswering);
  } else if (view.kind === 'component') {
    view.component.update(isOpen, answer);
  }
}
