import { BlockList } from '../formats/block-list.js';
import type { FormatReader } from '../formats/reading.js';
import { languageOf, oneLine } from '../formats/text-of.js';
import { Archive } from './archive.js';
import { DocxBody } from './docx-body.js';
import { DocxNumbering } from './docx-numbering.js';
import { readStyles } from './docx-styles.js';
import { readXml, readProperties, relationsOf } from './xml.js';

async function mainPart(archive: Archive): Promise<string> {
  for (const { type, target } of (await relationsOf(archive, '')).values()) if (type === 'officeDocument') return target;
  return 'word/document.xml';
}

export const readDocx: FormatReader = async ({ content }) => {
  const archive = await Archive.open(content);
  const part = await mainPart(archive);
  if (!archive.has(part)) throw new Error('It has no main part');
  const styles = await readStyles(archive);
  const numbering = await DocxNumbering.read(archive, styles);
  const blocks = new BlockList();
  for (const member of [part, 'word/footnotes.xml', 'word/endnotes.xml']) await readXml(archive, member, new DocxBody(blocks, styles, numbering));
  const { title, language } = await readProperties(archive);
  const first = blocks.blocks.find(({ kind }) => kind === 'heading');
  const heading = first?.kind === 'heading' && first.level === 1 ? first.text : null;
  return { title: oneLine(title ?? '') || heading, language: languageOf(language), blocks: blocks.blocks };
};
