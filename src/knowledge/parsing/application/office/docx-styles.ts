import type { Archive } from './archive.js';
import { isOn, readXml } from './xml.js';

/** What a style says of its paragraphs and runs; what it does not say comes from the style that it is based on. */
export interface Style {
  readonly basedOn?: string;
  /** Of a heading, from 1. */
  readonly level?: number;
  readonly isHidden?: boolean;
  readonly numId?: string;
  readonly listLevel?: number;
}

/** Entries of tables of contents and of figures: the headings stand in the text once more. */
const CONTENTS = /^(?:toc \d|toc heading|table of figures)$/i;

/** By the styles' ids; their names are English in the file whatever the program's language. */
export async function readStyles(archive: Archive): Promise<ReadonlyMap<string, Style>> {
  const styles = new Map<string, Style>();
  let id = '';
  const add = (style: Style): unknown => styles.set(id, { ...styles.get(id), ...style });
  await readXml(archive, 'word/styles.xml', {
    open: (name, { 'w:styleId': styleId, 'w:val': value = '', 'w:val': on }) => {
      if (name === 'style') id = styleId ?? '';
      else if (name === 'basedOn') add({ basedOn: value });
      else if (name === 'outlineLvl') add({ level: headingLevel(value) });
      else if (name === 'vanish') add({ isHidden: isOn(on) });
      else if (name === 'numId') add({ numId: value });
      else if (name === 'ilvl') add({ listLevel: Number(value) });
      else if (name === 'name' && CONTENTS.test(value)) add({ isHidden: true });
      else if (name === 'name' && /^(?:title|heading [1-9])$/i.test(value))
        add({ level: Number(/\d/.exec(value)?.[0] ?? 1) });
    },
  });
  return new Map([...styles.keys()].map((key) => [key, inherited(styles, key)]));
}

/** Outline levels count from 0; the tenth is that of plain text. */
export function headingLevel(value: string | undefined): number | undefined {
  return Number(value) < 9 ? Number(value) + 1 : undefined;
}

function inherited(styles: ReadonlyMap<string, Style>, id: string): Style {
  let found: Style = {};
  const seen = new Set<string>();
  for (let at: string | undefined = id; at !== undefined && !seen.has(at); at = styles.get(at)?.basedOn) {
    seen.add(at);
    found = { ...styles.get(at), ...found };
  }
  return found;
}
