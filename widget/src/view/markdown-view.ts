import { button, make } from './dom.js';
import { imageView } from './image-view.js';
import type { Inline } from './markdown-inline.js';
import { type Block, parseBlock, type RawBlock, splitBlocks } from './markdown-parse.js';
import { safeLink } from './safe-urls.js';
import type { ViewContext } from './view-context.js';

/** Draws a growing text: unchanged blocks keep their nodes, and so selection and focus. */
export class MarkdownView {
  readonly element: HTMLElement;
  private readonly context: ViewContext;
  private text = '';
  private drawn: readonly string[] = [];

  constructor(context: ViewContext, className = 'markdown') {
    this.context = context;
    this.element = make('div', { className, attributes: { dir: 'auto' } });
  }

  update(text: string): void {
    if (text === this.text) return;
    this.text = text;
    const raws = splitBlocks(text);
    const sources = raws.map(sourceOf);
    raws.forEach((raw, index) => {
      if (sources[index] === this.drawn[index]) return;
      const node = blockView(parseBlock(raw), this.context);
      const before = this.element.children.item(index);
      if (before) before.replaceWith(node);
      else this.element.append(node);
    });
    while (this.element.children.length > raws.length) this.element.lastElementChild?.remove();
    this.drawn = sources;
  }
}

function sourceOf({ kind, lines }: RawBlock): string {
  return `${kind}\n${lines.join('\n')}`;
}

function blockView(block: Block, context: ViewContext): HTMLElement {
  const inside = (children: readonly Inline[]): Node[] => children.map((child) => inlineView(child, context));
  switch (block.type) {
    case 'paragraph':
      return make('p', {}, ...inside(block.children));
    case 'heading':
      // Below the level of the headings of the page and the widget.
      return make(HEADINGS[block.level - 1] ?? 'h6', {}, ...inside(block.children));
    case 'code':
      return codeView(block.text, block.language, context);
    case 'quote':
      return make('blockquote', {}, ...block.blocks.map((each) => blockView(each, context)));
    case 'list': {
      const items = block.items.map((blocks) => make('li', {}, ...itemView(blocks, context)));
      if (block.start === null) return make('ul', {}, ...items);
      return make('ol', { attributes: { start: String(block.start) } }, ...items);
    }
    case 'table':
      return tableView(block, context);
    case 'rule':
      return make('hr');
    default:
      return block satisfies never;
  }
}

const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const;

/** An item of one paragraph is drawn without a paragraph element. */
function itemView(blocks: readonly Block[], context: ViewContext): Node[] {
  return blocks.flatMap((block) =>
    block.type === 'paragraph'
      ? block.children.map((child) => inlineView(child, context))
      : [blockView(block, context)],
  );
}

function inlineView(node: Inline, context: ViewContext): Node {
  switch (node.type) {
    case 'text':
      return document.createTextNode(node.text);
    case 'code':
      return make('code', { text: node.text });
    case 'break':
      return make('br');
    case 'image':
      return imageView(node.src, node.alt, context);
    case 'link':
      return linkView(
        node.href,
        node.children.map((child) => inlineView(child, context)),
      );
    case 'strong':
    case 'emphasis':
    case 'deleted':
      return make(TAGS[node.type], {}, ...node.children.map((child) => inlineView(child, context)));
    default:
      return node satisfies never;
  }
}

const TAGS = { strong: 'strong', emphasis: 'em', deleted: 'del' } as const;

export function linkView(href: string, children: readonly (Node | string)[]): HTMLElement {
  const safe = safeLink(href);
  if (safe === null) return make('span', {}, ...children);
  return make('a', { attributes: { href: safe, target: '_blank', rel: 'noopener noreferrer nofollow' } }, ...children);
}

function codeView(text: string, language: string, { strings, announce }: ViewContext): HTMLElement {
  const copy = button(strings.copy, () => {
    void navigator.clipboard.writeText(text).then(
      () => {
        copy.textContent = strings.copied;
        announce(strings.copied);
      },
      () => undefined,
    );
  });
  const code = make(
    'pre',
    { attributes: scrollable(language === '' ? strings.code : language) },
    make('code', { text }),
  );
  return make(
    'div',
    { className: 'code' },
    make('div', { className: 'code-head' }, make('span', { text: language }), isSecureContext && copy),
    code,
  );
}

function tableView({ head, rows }: Extract<Block, { type: 'table' }>, context: ViewContext): HTMLElement {
  const cells = (name: 'th' | 'td', row: readonly (readonly Inline[])[]): HTMLElement[] =>
    row.map((cell) =>
      make(
        name,
        name === 'th' ? { attributes: { scope: 'col' } } : {},
        ...cell.map((node) => inlineView(node, context)),
      ),
    );
  const table = make(
    'table',
    {},
    make('thead', {}, make('tr', {}, ...cells('th', head))),
    make('tbody', {}, ...rows.map((row) => make('tr', {}, ...cells('td', row)))),
  );
  return make('div', { className: 'table', attributes: scrollable(context.strings.table) }, table);
}

/** Makes content that is wider than the widget scrollable, also with the keyboard. */
function scrollable(label: string): Record<string, string> {
  return { tabindex: '0', role: 'group', 'aria-label': label };
}
