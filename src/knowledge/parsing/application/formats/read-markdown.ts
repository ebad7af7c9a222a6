import { marked, type Token, type Tokens } from 'marked';
import { readHtmlText } from '../html/read-html.js';
import { decode } from '../detection/charset.js';
import { BlockList } from './block-list.js';
import type { FormatReader } from './reading.js';
import { languageOf, oneLine } from './text-of.js';

const FRONT_MATTER = /^---[ \t]*\n([^]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
/** Far more than anybody writes; each level is a call within a call. */
const MAX_NESTING = 50;

/** The text of inline tokens, without their marks. */
function inline(tokens: readonly Token[] | undefined, depth = 0): string {
  if (!tokens || depth > MAX_NESTING) return '';
  return tokens.map((token) => inlineText(token, depth)).join('');
}

function inlineText(token: Token, depth: number): string {
  if (token.type === 'br') return '\n';
  if (token.type === 'html') return '';
  if (token.type === 'image' || token.type === 'codespan') return unescaped((token as Tokens.Image).text);
  if ('tokens' in token && token.tokens) return inline(token.tokens, depth + 1);
  return 'text' in token ? unescaped(String(token.text)) : '';
}

/** References to characters, which the lexer leaves for HTML to read. */
function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,5}));/gi, (all, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name.toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

function listLines(list: Tokens.List, depth = 0): readonly string[] {
  if (depth > MAX_NESTING) return [];
  return list.items.flatMap((item, index) => {
    const mark = list.ordered ? `${(list.start || 1) + index}.` : '-';
    const lines = item.tokens.flatMap((token) => (token.type === 'list' ? listLines(token as Tokens.List, depth + 1) : itemLines(token)));
    const [first = '', ...others] = lines;
    const indent = '  '.repeat(depth);
    return [`${indent}${mark} ${first}`, ...others.map((line) => (line.startsWith(`${indent}  `) ? line : `${indent}  ${line}`))];
  });
}

function itemLines(token: Token): readonly string[] {
  if (token.type === 'space') return [];
  if (token.type === 'code') return (token as Tokens.Code).text.split('\n');
  return (('tokens' in token ? inline(token.tokens) : '') || ('text' in token ? unescaped(String(token.text)) : '')).split('\n');
}

function addTokens(tokens: readonly Token[], blocks: BlockList, depth = 0): void {
  if (depth > MAX_NESTING) return;
  for (const token of tokens) addToken(token, blocks, depth);
}

function addToken(token: Token, blocks: BlockList, depth: number): void {
  switch (token.type) {
    case 'heading':
      blocks.heading((token as Tokens.Heading).depth, inline(token.tokens));
      return;
    case 'code':
      blocks.code((token as Tokens.Code).text);
      return;
    case 'list':
      blocks.text(listLines(token as Tokens.List).join('\n'));
      return;
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      blocks.table([header, ...rows].map((row) => row.map((cell) => inline(cell.tokens))));
      return;
    }
    case 'blockquote':
      addTokens(token.tokens ?? [], blocks, depth + 1);
      return;
    case 'html':
      for (const block of readHtmlText((token as Tokens.HTML).text, null).blocks) blocks.add(block);
      return;
    case 'space':
    case 'hr':
    case 'def':
      return;
    default:
      blocks.text('tokens' in token && token.tokens ? inline(token.tokens) : 'text' in token ? String(token.text) : '');
  }
}

function field(frontMatter: string, name: string): string | null {
  const value = new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(frontMatter)?.[1]?.trim() ?? '';
  return oneLine(value.replace(/^(["'])(.*)\1$/, '$2')) || null;
}

export const readMarkdown: FormatReader = async ({ content, contentType }) => {
  const text = decode(content, contentType, false).replace(/\r\n?/g, '\n');
  BlockList.checkHeld(text.length);
  const [whole = '', frontMatter = ''] = FRONT_MATTER.exec(text) ?? [];
  const blocks = new BlockList();
  addTokens(lexed(text.slice(whole.length)), blocks);
  const first = blocks.blocks.find(({ kind }) => kind === 'heading');
  const heading = first?.kind === 'heading' && first.level === 1 ? first.text : null;
  return { title: field(frontMatter, 'title') ?? heading, language: languageOf(field(frontMatter, 'lang(?:uage)?')), blocks: blocks.blocks };
};

function lexed(text: string): readonly Token[] {
  try {
    return marked.lexer(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Nested without end; what it says can still be found.
    return text.split(/\n\s*\n/).map((paragraph) => ({ type: 'text', raw: paragraph, text: paragraph.replace(/^(?:[>\s*+-]+)/, '') }));
  }
}
