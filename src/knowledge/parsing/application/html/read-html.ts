import { decode } from '../detection/charset.js';
import { BlockList, firstHeading } from '../formats/block-list.js';
import type { FormatReader, Reading } from '../formats/reading.js';
import { languageOf, oneLine } from '../formats/clean-text.js';
import { contentOf } from './boilerplate.js';
import { HtmlBlocks } from './html-blocks.js';
import { type HtmlElement, type HtmlTree, readTree } from './html-tree.js';
import { PageFactsReader } from './page-facts.js';

export const readHtml: FormatReader = async ({ content, contentType, url }) =>
  readHtmlText(decode(content, contentType, true), url);

export function readHtmlText(html: string, url: string | null): Reading {
  const facts = new PageFactsReader(url);
  const tree = readTree(html, facts.element);
  let blocks = blocksOf(contentOf(tree), tree, facts);
  if (blocks.length === 0) {
    // The page consists only of what counts as boilerplate, so all of it is read.
    const whole = readTree(html, () => undefined);
    blocks = blocksOf([whole.root], whole, facts);
  }
  const title = [facts.openGraphTitle ?? '', tree.title].map(oneLine).find((text) => text !== '');
  return { title: title ?? firstHeading(blocks), language: languageOf(facts.language), blocks, page: facts.facts() };
}

function blocksOf(elements: readonly HtmlElement[], { tabs }: HtmlTree, facts: PageFactsReader): Reading['blocks'] {
  const blocks = new BlockList();
  const builder = new HtmlBlocks(blocks, tabs, facts.addressOf);
  for (const element of elements) builder.add(element);
  return blocks.blocks;
}
