import type { Archive } from './archive.js';
import type { Style } from './docx-styles.js';
import { isOn, readXml } from './xml.js';

interface Level {
  start: number;
  format: string;
  /** `%1.%2` stands for the numbers of the first and the second level. */
  text: string;
  /** The style whose paragraphs are of this level. */
  style?: string;
  /** All numbers in it are shown as decimals. */
  isLegal: boolean;
}

interface Definition {
  readonly levels: Level[];
  /** Of the list style that says how it looks. */
  style?: string;
}

interface List {
  definition: string;
  /** Where its levels start, if not where the definition says. */
  readonly starts: Map<number, number>;
}

export const BULLET = '-';
const MAX_LEVELS = 9;

/** Counts the numbered paragraphs of a Word document, whose file holds no numbers but only how to count. */
export class DocxNumbering {
  private readonly definitions = new Map<string, Definition>();
  private readonly lists = new Map<string, List>();
  /** By definitions: lists of the same one go on counting. */
  private readonly counts = new Map<string, (number | undefined)[]>();

  private constructor(private readonly styles: ReadonlyMap<string, Style>) {}

  static async read(archive: Archive, styles: ReadonlyMap<string, Style>): Promise<DocxNumbering> {
    const numbering = new DocxNumbering(styles);
    await numbering.readDefinitions(archive);
    return numbering;
  }

  private async readDefinitions(archive: Archive): Promise<void> {
    let definition: Definition = { levels: [] };
    let list: List = { definition: '', starts: new Map() };
    let at = 0;
    await readXml(archive, 'word/numbering.xml', {
      open: (name, attributes) => {
        const value = attributes['w:val'];
        if (name === 'abstractNum')
          this.definitions.set(attributes['w:abstractNumId'] ?? '', (definition = { levels: [] }));
        else if (name === 'num')
          this.lists.set(attributes['w:numId'] ?? '', (list = { definition: '', starts: new Map() }));
        else if (name === 'abstractNumId') list.definition = value ?? '';
        else if (name === 'numStyleLink') definition.style = value;
        else if (name === 'lvlOverride' || name === 'lvl') at = levelOf(attributes['w:ilvl']);
        else if (name === 'startOverride') list.starts.set(at, Number(value));
        if (name === 'lvl') definition.levels[at] = { start: 1, format: 'decimal', text: '', isLegal: false };
        const level = definition.levels[at];
        if (!level) return;
        if (name === 'start') level.start = Number(value);
        else if (name === 'numFmt') level.format = value ?? '';
        else if (name === 'lvlText') level.text = value ?? '';
        else if (name === 'pStyle') level.style = value;
        else if (name === 'isLgl') level.isLegal = isOn(value);
      },
      close: (name) => {
        // Of what a list overrides only the start is taken; how it looks stands outside of any definition.
        if (name === 'abstractNum') definition = { levels: [] };
      },
    });
  }

  /** The level of a style's paragraphs where only the list says it. */
  levelOf(numId: string, style: string | undefined): number {
    return Math.max(
      0,
      this.definitionOf(numId)?.levels.findIndex((level) => style !== undefined && level.style === style) ?? 0,
    );
  }

  /** The label of the list's next paragraph: `2.1`, `b)` or a bullet. */
  next(numId: string, at: number): string {
    const list = this.lists.get(numId);
    const levels = this.definitionOf(numId)?.levels ?? [];
    const level = levels[at];
    if (!list || !level || level.format === 'bullet') return BULLET;
    const counts = this.counts.get(list.definition) ?? [];
    this.counts.set(list.definition, counts);
    for (const [index, start] of list.starts) if (index <= at) counts[index] = start - 1;
    // Only the first paragraph of a list starts it anew.
    list.starts.clear();
    for (let index = 0; index <= at; index += 1) counts[index] ??= (levels[index]?.start ?? 1) - (index === at ? 1 : 0);
    counts[at] = (counts[at] ?? 0) + 1;
    counts.length = at + 1;
    return level.text.replace(/%([1-9])/g, (_, digit: string) => {
      const index = Number(digit) - 1;
      return numeral(counts[index] ?? 1, level.isLegal ? 'decimal' : (levels[index]?.format ?? 'decimal'));
    });
  }

  private definitionOf(numId: string): Definition | undefined {
    const own = this.definitions.get(this.lists.get(numId)?.definition ?? '');
    const linked = own?.style === undefined ? undefined : this.lists.get(this.styles.get(own.style)?.numId ?? '');
    return linked ? this.definitions.get(linked.definition) : own;
  }
}

export const levelOf = (value: string | undefined): number =>
  Math.min(MAX_LEVELS - 1, Math.max(0, Math.trunc(Number(value)) || 0));

const ROMAN = [
  [1_000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
] as const;

function numeral(count: number, format: string): string {
  const isWithin = count >= 1 && count < 4_000;
  if (isWithin && format.endsWith('Roman')) return cased(roman(count), format);
  // After z comes aa, then bb.
  if (isWithin && format.endsWith('Letter'))
    return cased(String.fromCharCode(97 + ((count - 1) % 26)).repeat(Math.ceil(count / 26)), format);
  if (format === 'decimalZero') return String(count).padStart(2, '0');
  return format === 'none' ? '' : String(count);
}

const cased = (text: string, format: string): string => (format.startsWith('upper') ? text.toUpperCase() : text);

function roman(count: number): string {
  let [rest, text] = [count, ''];
  for (const [value, digits] of ROMAN) for (; rest >= value; rest -= value) text += digits;
  return text;
}
