import { button, make } from './dom.js';
import { HIGHLIGHTED } from './highlight-names.js';
import { type BlockView, scrollable, type Work } from './markdown-children.js';
import { type RawBlock, readCode } from './markdown-blocks.js';
import type { ViewContext } from './view-context.js';

/** Longer code remains without colours. */
const MAX_HIGHLIGHTED = 50_000;

let queue: Promise<void> = Promise.resolve();

/** Code with a button that copies it. A growing block keeps its element, and so the reader's place in it. */
export class CodeView implements BlockView {
  readonly element: HTMLElement;
  private readonly code = make('code');
  private readonly language = make('span');
  private readonly pre: HTMLElement;
  private readonly context: ViewContext;
  private readonly atEnd: (finish: () => void) => void;
  private text = '';

  /** @param atEnd calls a function when no more text follows */
  constructor(context: ViewContext, atEnd: (finish: () => void) => void) {
    this.context = context;
    this.atEnd = atEnd;
    this.pre = make('pre', { attributes: { ...scrollable(context.strings.code), dir: 'ltr' } }, this.code);
    this.element = make(
      'div',
      { className: 'code' },
      make('div', { className: 'code-head' }, this.language, isSecureContext && this.copyButton()),
      this.pre,
    );
  }

  *update(block: RawBlock): Work {
    const { language, text, isClosed } = readCode(block);
    if (language !== '' && this.language.textContent !== language) {
      this.language.textContent = language;
      this.pre.setAttribute('aria-label', language);
    }
    this.show(text);
    yield;
    if (!HIGHLIGHTED.test(language)) return;
    const finish = (): void => highlightLater(this.code, language);
    if (isClosed) finish();
    else this.atEnd(finish);
  }

  /** Appends what has grown, because laying out all of a long text again would take long. */
  private show(text: string): void {
    if (text === this.text) return;
    const node = this.code.firstChild;
    if (node instanceof Text && this.code.childNodes.length === 1 && text.startsWith(this.text))
      node.appendData(text.slice(this.text.length));
    else this.code.textContent = text;
    this.text = text;
  }

  private copyButton(): HTMLButtonElement {
    const { strings, announce } = this.context;
    const copy = button(strings.copy, () => {
      void navigator.clipboard.writeText(this.text).then(
        () => {
          copy.textContent = strings.copied;
          announce(strings.copied);
        },
        () => undefined,
      );
    });
    return copy;
  }
}

/** Colours one block after the other. */
function highlightLater(code: HTMLElement, language: string): void {
  if (code.textContent.length > MAX_HIGHLIGHTED) return;
  queue = queue
    .then(async () => {
      const { highlight } = await import('./highlight.js');
      await highlight(code, language);
    })
    .catch(() => undefined);
}
