import { BlockList } from '../formats/block-list.js';
import type { FormatReader } from '../formats/reading.js';
import { languageOf, oneLine } from '../formats/text-of.js';
import { Archive } from './archive.js';
import { Sheet } from './xlsx-sheet.js';
import { readFormats } from './xlsx-formats.js';
import { isOn, readXml, readProperties, relationsOf } from './xml.js';

const WORKBOOK = 'xl/workbook.xml';

interface Workbook {
  readonly sheets: readonly { readonly name: string; readonly member: string }[];
  /** Days are counted from 1904, as old Macs do. */
  readonly from1904: boolean;
}

async function readWorkbook(archive: Archive): Promise<Workbook> {
  const relations = await relationsOf(archive, WORKBOOK);
  const sheets: { name: string; member: string }[] = [];
  let from1904 = false;
  await readXml(archive, WORKBOOK, {
    open: (name, attributes) => {
      if (name === 'workbookPr') from1904 = attributes['date1904'] !== undefined && isOn(attributes['date1904']);
      if (name !== 'sheet') return;
      const member = relations.get(attributes['r:id'] ?? '')?.target;
      const isHidden = /^(?:hidden|veryHidden)$/.test(attributes['state'] ?? '');
      if (member !== undefined && !isHidden) sheets.push({ name: attributes['name'] ?? '', member });
    },
  });
  return { sheets, from1904 };
}

/** Cells refer to them by number. */
async function readSharedStrings(archive: Archive): Promise<readonly string[]> {
  const strings: string[] = [];
  let [text, held, phonetic, isText] = ['', 0, 0, false];
  await readXml(archive, 'xl/sharedStrings.xml', {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic += 1;
      else if (name === 't') isText = phonetic === 0;
    },
    text: (part) => {
      if (!isText) return;
      held += part.length;
      BlockList.checkHeld(held);
      text += part;
    },
    close: (name) => {
      if (name === 't') isText = false;
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 'si') strings.push(text);
    },
  });
  return strings;
}

export const readXlsx: FormatReader = async ({ content }) => {
  const archive = await Archive.open(content);
  if (!archive.has(WORKBOOK)) throw new Error('It has no main part');
  const { sheets, from1904 } = await readWorkbook(archive);
  const strings = await readSharedStrings(archive);
  const formats = await readFormats(archive, from1904);
  const blocks = new BlockList();
  for (const { name, member } of sheets) {
    const sheet = new Sheet(strings, formats);
    await readXml(archive, member, sheet);
    if (sheet.rows.length === 0) continue;
    blocks.heading(2, name);
    blocks.table(sheet.rows);
  }
  const { title, language } = await readProperties(archive);
  return { title: oneLine(title ?? '') || null, language: languageOf(language), blocks: blocks.blocks };
};
