import {
  blocksInside,
  levelOf,
  MarkdownSplitter,
  type RawBlock,
  readCode,
  readFormula,
  readList,
  startOf,
  textOf,
} from './markdown-blocks.js';
import { type Inline, parseInline } from './markdown-inline.js';
import { alignmentsOf, cellsOf } from './markdown-table.js';

/** The blocks of a text, each in a short form for comparison. */
export function shortBlocks(text: string): string[] {
  return new MarkdownSplitter().split(text).map(shortBlock);
}

export function shortBlock(block: RawBlock): string {
  switch (block.kind) {
    case 'paragraph':
      return inline(textOf(block));
    case 'heading':
      return `h${levelOf(block)} ${inline(textOf(block))}`;
    case 'code': {
      const { language, text } = readCode(block);
      return `code(${language}) ${text}`;
    }
    case 'formula': {
      const { source, after } = readFormula(block);
      return `formula(${source ?? ''}) ${inline(after)}`;
    }
    case 'quote':
      return `quote[${inside(block)}]`;
    case 'note':
      return `note(${block.variant})[${inside(block)}]`;
    case 'list': {
      const { items, isTight } = readList(block);
      return `${isTight ? 'list' : 'loose'}(${startOf(block) ?? '-'})[${items.map(shortBlock).join(' | ')}]`;
    }
    case 'item':
      return `${{ task: '☐ ', done: '☑ ' }[block.variant] ?? ''}${inside(block)}`;
    case 'table': {
      const [head = '', delimiters = '', ...rows] = block.lines;
      const alignments = alignmentsOf(delimiters);
      const cells = (line: string): string => {
        const texts = cellsOf(line);
        return alignments.map((_, index) => inline(texts[index] ?? '')).join(',');
      };
      const marks = alignments.map((alignment) => alignment ?? '').join(',');
      return `table(${marks})[${[head, ...rows].map(cells).join(' | ')}]`;
    }
    case 'row':
      return cellsOf(block.lines[0] ?? '').join(',');
    case 'rule':
      return 'rule';
    default:
      return block.kind satisfies never;
  }
}

function inside(block: RawBlock): string {
  return blocksInside(block).map(shortBlock).join('; ');
}

function inline(text: string): string {
  return parseInline(text).map(shortInline).join('');
}

function shortInline(node: Inline): string {
  switch (node.type) {
    case 'text':
      return node.text;
    case 'code':
      return `<code ${node.text}>`;
    case 'break':
      return '⏎';
    case 'image':
      return `<image ${node.src} ${node.alt}>`;
    case 'link':
      return `<link ${node.href} ${node.children.map(shortInline).join('')}>`;
    case 'formula':
      return `<formula ${node.source}>`;
    case 'note':
      return `<note ${node.label}>`;
    case 'strong':
    case 'emphasis':
    case 'deleted':
      return `<${node.type} ${node.children.map(shortInline).join('')}>`;
    default:
      return node satisfies never;
  }
}
