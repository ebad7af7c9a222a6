import type { Archive } from './archive.js';
import { isOn, readXml } from './xml.js';

/** Properties that a style sets for its paragraphs and runs. The others come from the style that it is based on. */
export interface Style {
  readonly basedOn?: string;
  /** Of a heading, from 1. */
  readonly level?: number;
  readonly isHidden?: boolean;
  readonly numId?: string;
  readonly listLevel?: number;
}

/** Entries of tables of contents and of figures, which repeat headings of the text. */
const CONTENTS = /^(?:toc \d|toc heading|table of figures)$/i;

/** By style id. The names of built-in styles are English in every file. */
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

/** Outline levels count from 0. The tenth is plain text. */
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
