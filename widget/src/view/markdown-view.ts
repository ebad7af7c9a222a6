import { make } from './dom.js';
import { blockView, type Scope } from './markdown-block-views.js';
import { MarkdownSplitter } from './markdown-blocks.js';
import { type BlockView, Children, type Work } from './markdown-children.js';
import { whenFormulasRead } from './markdown-formula.js';
import { FootnotesView, MAX_NOTES } from './markdown-notes.js';
import type { ViewContext } from './view-context.js';
import { withoutBidiControls } from './visible-text.js';

/** The time for which drawing may stop the page. */
const SLICE_MS = 8;

/**
 * Draws a growing text. The first part is drawn at once, and what takes longer in the next frames, so that a long text does not stop the
 * page.
 */
export class MarkdownView {
  readonly element: HTMLElement;
  private readonly splitter = new MarkdownSplitter();
  private readonly blocks: Children;
  private readonly footnotes: FootnotesView;
  private readonly unfinished = new Set<() => void>();
  private readonly waiting = new Set<() => void>();
  private text = '';
  private isFinal = false;
  private work: Work | null = null;
  private isWaiting = false;

  constructor(context: ViewContext, { className = 'markdown' }: { readonly className?: string } = {}) {
    const scope: Scope = { context, atEnd: (finish) => this.unfinished.add(finish) };
    const body = make('div', { className: 'markdown-body' });
    this.blocks = new Children(body, (block) => withDirection(blockView(block, scope)));
    this.element = make('div', { className });
    this.footnotes = new FootnotesView(this.element, scope);
    this.element.append(body, this.footnotes.element);
  }

  /** @param isFinal whether the text is complete: only then are parts without an end complete */
  update(text: string, isFinal: boolean): void {
    if (text === this.text && isFinal === this.isFinal) return;
    this.text = text;
    this.isFinal = isFinal;
    this.work = this.draw(text, isFinal);
    if (!this.isWaiting) this.proceed();
  }

  /** Resolves when the text is drawn to its end, with its formulas. */
  async whenDrawn(): Promise<void> {
    if (this.work) await new Promise<void>((resolve) => this.waiting.add(resolve));
    await whenFormulasRead();
  }

  private *draw(text: string, isFinal: boolean): Work {
    const blocks = this.splitter.split(withoutBidiControls(text));
    const notes = blocks.filter(({ kind }) => kind === 'note').slice(0, MAX_NOTES);
    const isNote = new Set(notes);
    yield;
    yield* this.blocks.update(blocks.filter((block) => !isNote.has(block)));
    yield* this.footnotes.update(notes);
    if (!isFinal) return;
    for (const finish of this.unfinished) finish();
    this.unfinished.clear();
  }

  private proceed(): void {
    const end = performance.now() + SLICE_MS;
    while (this.work) {
      if (this.work.next().done === true) this.work = null;
      else if (performance.now() >= end) {
        this.isWaiting = true;
        requestAnimationFrame(() => {
          this.isWaiting = false;
          this.proceed();
        });
        return;
      }
    }
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}

/** The text of each block has a direction of its own. Code has one already, and its frame the direction of the page. */
function withDirection(view: BlockView): BlockView {
  if (!view.element.classList.contains('code')) view.element.dir = 'auto';
  return view;
}
