import { marked } from 'marked';
import { readHtmlText } from '../html/read-html.js';
import { decode } from '../detection/charset.js';
import { BlockList, firstHeading } from './block-list.js';
import type { FormatReader } from './reading.js';
import { languageOf, oneLine } from './clean-text.js';

const FRONT_MATTER = /^---[ \t]*\n([^]*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)/;
/** HTML parsers read everything after these tags as their text. Markdown shows the tags themselves as text. */
const TEXT_TAGS = /<(?=\/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)\b)/gi;

function field(frontMatter: string, name: string): string | null {
  const value = new RegExp(`^${name}:[ \\t]*(.*)$`, 'im').exec(frontMatter)?.[1]?.trim() ?? '';
  return oneLine(value.replace(/^(["'])(.*)\1$/, '$2')) || null;
}

export const readMarkdown: FormatReader = async ({ content, contentType, url }) => {
  const text = decode(content, contentType, false).replace(/\r\n?/g, '\n');
  BlockList.checkHeld(text.length);
  const [whole = '', frontMatter = ''] = FRONT_MATTER.exec(text) ?? [];
  const { blocks } = readHtmlText(htmlOf(text.slice(whole.length)), url);
  return {
    title: field(frontMatter, 'title') ?? firstHeading(blocks, ({ level }) => level === 1),
    language: languageOf(field(frontMatter, 'lang(?:uage)?')),
    blocks,
  };
};

function htmlOf(text: string): string {
  try {
    return marked.parse(text, { async: false }).replace(TEXT_TAGS, '&lt;');
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // It is nested too deep for the stack of `marked`. The plain paragraphs can still be searched.
    return text
      .split(/\n\s*\n/)
      .map((paragraph) => `<p>${paragraph.replace(/^[>\s*+-]+/, '').replace(/</g, '&lt;')}</p>`)
      .join('\n');
  }
}
