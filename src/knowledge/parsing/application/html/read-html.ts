import { decode } from '../detection/charset.js';
import { BlockList } from '../formats/block-list.js';
import type { FormatReader, Reading } from '../formats/reading.js';
import { languageOf, oneLine } from '../formats/text-of.js';
import { MAX_MAIN_CONTENT_DEPTHS, MAX_MAIN_CONTENT_ELEMENTS, MAX_TITLE_CHARACTERS } from '../../limits.js';
import { HtmlBlocks } from './html-blocks.js';
import { type HtmlEvent, HtmlReader } from './html-events.js';
import { addMainContent, lengthWithoutSpace } from './main-content.js';
import { PageFactsReader } from './page-facts.js';

/** A page of which less is main content is no article: all of it is read. */
const MIN_SHARE = 0.5;

export const readHtml: FormatReader = async ({ content, contentType, url }) => readHtmlText(decode(content, contentType, true), url);

export function readHtmlText(html: string, url: string | null): Reading {
  const facts = new PageFactsReader(url);
  let title = '';
  const reader = new HtmlReader({
    element: facts.element,
    title: (text) => {
      if (title.length < MAX_TITLE_CHARACTERS) title += text;
    },
  });
  reader.read(html);
  const blocks = contentOf(reader.events);
  const said = [facts.openGraphTitle ?? '', title].map(oneLine).find((text) => text !== '');
  return {
    title: said ?? firstHeading(blocks) ?? firstHeading(everything(reader.events)),
    language: languageOf(facts.language),
    blocks: blocks.blocks,
    page: facts.facts(),
  };
}

function contentOf(events: readonly HtmlEvent[]): BlockList {
  const own = events.filter(({ isBoilerplate }) => !isBoilerplate);
  const length = own.reduce((sum, event) => sum + (event.kind === 'text' ? lengthWithoutSpace(event.text) : 0), 0);
  // A page that is nothing but its navigation is read as what it is.
  if (length === 0) return everything(events);
  if (own.length <= 2 * MAX_MAIN_CONTENT_ELEMENTS && depthsOf(own) <= MAX_MAIN_CONTENT_DEPTHS) {
    const main = new BlockList();
    if (addMainContent(own, main) >= length * MIN_SHARE) return main;
  }
  return everything(own);
}

/** Of all elements together. */
function depthsOf(events: readonly HtmlEvent[]): number {
  let [depth, sum] = [0, 0];
  for (const { kind } of events) {
    if (kind === 'open') sum += depth += 1;
    else if (kind === 'close') depth -= 1;
  }
  return sum;
}

function everything(events: readonly HtmlEvent[]): BlockList {
  const blocks = new BlockList();
  const builder = new HtmlBlocks(blocks);
  for (const event of events) {
    if (event.kind === 'open') builder.open(event.name, event.attributes);
    else if (event.kind === 'text') builder.text(event.text);
    else builder.close(event.name);
  }
  builder.end();
  return blocks;
}

function firstHeading({ blocks }: BlockList): string | null {
  for (const block of blocks) if (block.kind === 'heading') return block.text;
  return null;
}
