import { make } from './dom.js';
import { blockView, type Scope } from './markdown-block-views.js';
import type { RawBlock } from './markdown-blocks.js';
import { type BlockView, Children, type Work } from './markdown-children.js';

/** Further notes are drawn where they stand. */
export const MAX_NOTES = 200;
/** Further references remain text. */
const MAX_REFERENCES = 500;

let messages = 0;

/** The footnotes at the end of a message, numbered in the order in which they stand. References become links when their note is there. */
export class FootnotesView {
  readonly element: HTMLElement;
  private readonly list = make('ol');
  private readonly message: HTMLElement;
  private readonly scope: Scope;
  private readonly notes: Children;
  /** Distinguishes the notes from those of the other messages. */
  private readonly id = `note-${(messages += 1)}`;
  /** The references that the reader followed last, by the number of the note. */
  private readonly followed = new Map<number, HTMLElement>();

  /** @param message contains the references */
  constructor(message: HTMLElement, scope: Scope) {
    this.message = message;
    this.scope = scope;
    this.notes = new Children(this.list, (block) => this.noteView(block));
    this.element = make(
      'section',
      { className: 'notes', attributes: { 'aria-label': scope.context.strings.footnotes } },
      this.list,
    );
    this.element.hidden = true;
  }

  *update(blocks: readonly RawBlock[]): Work {
    if (blocks.length === 0 && this.element.hidden) return;
    this.element.hidden = blocks.length === 0;
    yield* this.notes.update(blocks);
    this.link(blocks);
  }

  private noteView(block: RawBlock): BlockView {
    const { element: text, update } = blockView(block, this.scope);
    text.className = 'note-text';
    const item = make('li', { attributes: { tabindex: '-1', dir: 'auto' } }, text);
    return update ? { element: item, update } : { element: item };
  }

  private link(blocks: readonly RawBlock[]): void {
    const numbers = new Map<string, number>();
    for (const [index, { variant }] of blocks.entries()) if (!numbers.has(variant)) numbers.set(variant, index + 1);
    const first = new Map<number, HTMLElement>();
    const references = this.message.querySelectorAll<HTMLElement>('[data-note]');
    for (const reference of Array.from(references).slice(0, MAX_REFERENCES)) {
      const label = reference.getAttribute('data-note') ?? '';
      const number = numbers.get(label);
      const text = number === undefined ? `[^${label}]` : String(number);
      if (reference.textContent !== text)
        reference.replaceChildren(number === undefined ? text : this.referenceTo(number));
      if (number !== undefined && !first.has(number)) first.set(number, reference);
    }
    for (const [index, item] of Array.from(this.list.children).entries())
      this.linkBack(item, index + 1, first.get(index + 1));
  }

  private referenceTo(number: number): HTMLElement {
    const link = this.jump(String(number), `${this.id}-${number}`, 'doc-noteref', () => {
      this.followed.set(number, link);
      return this.list.children.item(number - 1);
    });
    return make('sup', {}, link);
  }

  private linkBack(item: Element, number: number, reference: HTMLElement | undefined): void {
    item.id = `${this.id}-${number}`;
    const anchor = reference?.querySelector('a');
    if (anchor) anchor.id = `${item.id}-text`;
    const old = item.querySelector(':scope>.note-back');
    if (!anchor) old?.remove();
    if (!anchor || old) return;
    const back = this.jump('↩', `${item.id}-text`, 'doc-backlink', () => {
      const last = this.followed.get(number);
      return last?.isConnected === true ? last : this.message.querySelector(`[id="${item.id}-text"]`);
    });
    back.className = 'note-back';
    back.setAttribute('aria-label', `${this.scope.context.strings.backToText} (${number})`);
    item.append(back);
  }

  /** The target is inside a shadow root, where the browser does not look for it. */
  private jump(text: string, id: string, role: string, target: () => Element | null): HTMLElement {
    const link = make('a', { text, attributes: { href: `#${id}`, role } });
    link.addEventListener('click', (event) => {
      event.preventDefault();
      const element = target();
      if (element instanceof HTMLElement) element.focus();
    });
    return link;
  }
}
