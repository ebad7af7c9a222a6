import { decode } from '../detection/charset.js';
import { BlockList } from './block-list.js';
import type { FormatReader } from './reading.js';

/** Empty lines separate paragraphs. */
export const readText: FormatReader = async ({ content, contentType }) => {
  const text = decode(content, contentType, false);
  BlockList.checkHeld(text.length);
  const blocks = new BlockList();
  for (const paragraph of text.replace(/\r\n?/g, '\n').split(/\n[ \t\f]*\n/)) blocks.text(paragraph);
  return { title: null, language: null, blocks: blocks.blocks };
};
