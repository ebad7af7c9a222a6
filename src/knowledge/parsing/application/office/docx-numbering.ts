import type { Archive } from './archive.js';
import type { Style } from './docx-styles.js';
import { isOn, readXml } from './xml.js';

interface Level {
  start: number;
  format: string;
  /** `%1.%2` stands for the numbers of the first and the second level. */
  text: string;
  /** The style whose paragraphs have this level. */
  style?: string;
  isLegal: boolean;
}

interface Definition {
  readonly levels: Level[];
  /** The list style that has the levels, if this definition only refers to it. */
  style?: string;
}

interface List {
  definition: string;
  /** First numbers of levels that differ from the definition's. */
  readonly starts: Map<number, number>;
}

export const BULLET = '-';
const MAX_LEVELS = 9;

/** Counts the numbered paragraphs of a Word document. Its file does not contain the numbers, only how to count. */
export class DocxNumbering {
  private readonly definitions = new Map<string, Definition>();
  private readonly lists = new Map<string, List>();
  /** By definition: lists with the same definition continue each other's numbers. */
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
        // Levels after the definitions are overrides of a list, of which only the start is read.
        if (name === 'abstractNum') definition = { levels: [] };
      },
    });
  }

  /** The level of a style's paragraphs if the list defines it and not the style. */
  levelOf(numId: string, style: string | undefined): number {
    const levels = this.definitionOf(numId)?.levels ?? [];
    return style === undefined
      ? 0
      : Math.max(
          0,
          levels.findIndex((level) => level.style === style),
        );
  }

  /** Counts the list's next paragraph. @returns its label: `2.1`, `b)` or a bullet */
  next(numId: string, at: number): string {
    const list = this.lists.get(numId);
    const levels = this.definitionOf(numId)?.levels ?? [];
    const level = levels[at];
    if (!list || !level || level.format === 'bullet') return BULLET;
    const counts = this.counts.get(list.definition) ?? [];
    this.counts.set(list.definition, counts);
    for (const [index, start] of list.starts) if (index <= at) counts[index] = start - 1;
    // Only the first paragraph of a list restarts the numbers.
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

const ROMAN = { m: 1_000, cm: 900, d: 500, cd: 400, c: 100, xc: 90, l: 50, xl: 40, x: 10, ix: 9, v: 5, iv: 4, i: 1 };

function numeral(count: number, format: string): string {
  const isWithin = count >= 1 && count < 4_000;
  if (isWithin && format.endsWith('Roman')) return cased(roman(count), format);
  // After z follow aa and bb.
  if (isWithin && format.endsWith('Letter'))
    return cased(String.fromCharCode(97 + ((count - 1) % 26)).repeat(Math.ceil(count / 26)), format);
  if (format === 'decimalZero') return String(count).padStart(2, '0');
  return format === 'none' ? '' : String(count);
}

const cased = (text: string, format: string): string => (format.startsWith('upper') ? text.toUpperCase() : text);

function roman(count: number): string {
  let [rest, text] = [count, ''];
  for (const [digits, value] of Object.entries(ROMAN)) for (; rest >= value; rest -= value) text += digits;
  return text;
}
