import { BlockList } from '../formats/block-list.js';
import type { FormatReader } from '../formats/reading.js';
import { languageOf, oneLine } from '../formats/text-of.js';
import { Archive } from './archive.js';
import { DocxBody } from './docx-body.js';
import { readXml, readProperties, relationsOf } from './xml.js';

/** Levels of headings by the styles' ids; their names are English in the file whatever the program's language. */
async function headingStyles(archive: Archive): Promise<ReadonlyMap<string, number>> {
  const styles = new Map<string, number>();
  const parents = new Map<string, string>();
  let style = '';
  await readXml(archive, 'word/styles.xml', {
    open: (name, attributes) => {
      const value = attributes['w:val'] ?? '';
      if (name === 'style') style = attributes['w:styleId'] ?? '';
      else if (name === 'basedOn') parents.set(style, value);
      else if (name === 'outlineLvl' && Number(value) < 6) styles.set(style, Number(value) + 1);
      else if (name === 'name') {
        const level = /^heading ([1-6])$/i.exec(value)?.[1];
        if (level !== undefined) styles.set(style, Number(level));
        else if (/^title$/i.test(value)) styles.set(style, 1);
      }
    },
  });
  for (const [id, parent] of parents) {
    const level = styles.get(parent);
    if (level !== undefined && !styles.has(id)) styles.set(id, level);
  }
  return styles;
}

async function mainPart(archive: Archive): Promise<string> {
  for (const { type, target } of (await relationsOf(archive, '')).values()) if (type === 'officeDocument') return target;
  return 'word/document.xml';
}

export const readDocx: FormatReader = async ({ content }) => {
  const archive = await Archive.open(content);
  const part = await mainPart(archive);
  if (!archive.has(part)) throw new Error('It has no main part');
  const styles = await headingStyles(archive);
  const blocks = new BlockList();
  await readXml(archive, part, new DocxBody(blocks, styles));
  for (const notes of ['word/footnotes.xml', 'word/endnotes.xml']) await readXml(archive, notes, new DocxBody(blocks, styles));
  const { title, language } = await readProperties(archive);
  const first = blocks.blocks.find(({ kind }) => kind === 'heading');
  const heading = first?.kind === 'heading' && first.level === 1 ? first.text : null;
  return { title: oneLine(title ?? '') || heading, language: languageOf(language), blocks: blocks.blocks };
};
