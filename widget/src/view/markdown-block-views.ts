import { make } from './dom.js';
import { blocksInside, levelOf, type RawBlock, readFormula, readList, startOf, textOf } from './markdown-blocks.js';
import { type BlockView, Children, scrollable, type Work } from './markdown-children.js';
import { CodeView } from './markdown-code.js';
import { formulaView } from './markdown-formula.js';
import { inlineViews } from './markdown-inline-view.js';
import { alignmentsOf, cellsOf } from './markdown-table.js';
import type { ViewContext } from './view-context.js';

/** What the blocks of a message share. */
export interface Scope {
  readonly context: ViewContext;
  /** Calls a function when the message is complete. */
  readonly atEnd: (finish: () => void) => void;
}

/** A cell with so few characters stays in one line, also if they are wide. */
const SHORT = 8;
/** Below the levels of the headings of the page and the widget. */
const HEADINGS = ['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const;

export function blockView(block: RawBlock, scope: Scope): BlockView {
  const { context } = scope;
  switch (block.kind) {
    case 'paragraph':
      return { element: make('p', {}, ...inlineViews(textOf(block), context)) };
    case 'heading':
      return { element: make(HEADINGS[levelOf(block) - 1] ?? 'h6', {}, ...inlineViews(textOf(block), context)) };
    case 'formula':
      return { element: formulaBlock(block, context) };
    case 'rule':
      return { element: make('hr') };
    case 'code':
      return new CodeView(context, scope.atEnd);
    case 'quote':
      return containerView(make('blockquote'), scope);
    case 'list':
      return listView(block, scope);
    case 'item':
      return containerView(itemOf(block, context), scope);
    case 'note':
      return containerView(make('div'), scope);
    case 'table':
      return tableView(block, context);
    case 'row':
      return { element: rowOf('td', block.lines[0] ?? '', [], context) };
    default:
      return block.kind satisfies never;
  }
}

function containerView(element: HTMLElement, scope: Scope): BlockView {
  const children = new Children(element, (block) => blockView(block, scope));
  return { element, update: (block) => children.update(blocksInside(block)) };
}

function formulaBlock(block: RawBlock, context: ViewContext): HTMLElement {
  const { source, after } = readFormula(block);
  const written = block.lines.join('\n');
  return make(
    'p',
    source === null ? {} : { className: 'formula' },
    source === null ? null : formulaView(source, written),
    ...inlineViews(after, context),
  );
}

function listView(block: RawBlock, scope: Scope): BlockView {
  const start = startOf(block);
  const element = start === null ? make('ul') : make('ol', start === 1 ? {} : { attributes: { start: String(start) } });
  const children = new Children(element, (item) => blockView(item, scope));
  return {
    element,
    *update(grown: RawBlock): Work {
      const { items, isTight } = readList(grown);
      element.classList.toggle('loose', !isTight);
      yield* children.update(items);
    },
  };
}

function itemOf({ variant }: RawBlock, { strings }: ViewContext): HTMLElement {
  if (variant === '') return make('li');
  const isDone = variant === 'done';
  const name = isDone ? strings.taskDone : strings.taskOpen;
  const box = make('input', { attributes: { type: 'checkbox', disabled: '', 'aria-label': name } });
  box.checked = isDone;
  return make('li', { className: 'task' }, box);
}

function tableView({ lines: [head = '', delimiters = ''] }: RawBlock, context: ViewContext): BlockView {
  const alignments = alignmentsOf(delimiters);
  const body = make('tbody');
  const rows = new Children(body, ({ lines: [line = ''] }) => ({ element: rowOf('td', line, alignments, context) }));
  const table = make('table', {}, make('thead', {}, rowOf('th', head, alignments, context)), body);
  return {
    element: make('div', { className: 'table', attributes: scrollable(context.strings.table) }, table),
    update: ({ lines, depth }) =>
      rows.update(lines.slice(2).map((line) => ({ kind: 'row', variant: '', lines: [line], depth }))),
  };
}

function rowOf(
  name: 'th' | 'td',
  line: string,
  alignments: ReturnType<typeof alignmentsOf>,
  context: ViewContext,
): HTMLElement {
  const texts = cellsOf(line);
  const cells = alignments.map((alignment, index) => {
    // The text's own direction must not move it out of the line of its column.
    const text = make('span', {}, ...inlineViews(texts[index] ?? '', context));
    const isShort = text.textContent.length <= SHORT;
    const cell = make(
      name,
      { ...(isShort && { className: 'short' }), ...(name === 'th' && { attributes: { scope: 'col' } }) },
      text,
    );
    if (alignment) cell.style.setProperty('text-align', alignment);
    return cell;
  });
  return make('tr', {}, ...cells);
}
