import type { Archive } from './archive.js';
import { readXml } from './xml.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Day 0; the day that 1900 did not have counts as well. */
const DAY_ZERO = Date.UTC(1899, 11, 30);
const DAYS_TO_1904 = 1_462;
/** The formats of dates and times that every program has built in, those of East Asian ones included. */
const BUILT_IN: Readonly<Record<number, string>> = {
  ...{
    9: '0%',
    10: '0.00%',
    14: 'd',
    15: 'd',
    16: 'd',
    17: 'd',
    18: 'h',
    19: 'h',
    20: 'h',
    21: 'h',
    22: 'd h',
    45: 'm:s',
    46: '[h]',
    47: 'm:s',
  },
  ...Object.fromEntries([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'd'])),
  ...Object.fromEntries([32, 33, 34, 35, 55, 56].map((id) => [id, 'h'])),
};

type Kind = 'number' | 'percent' | 'date' | 'time' | 'date-time' | 'duration';

/** How the numbers of a workbook are shown. */
export class NumberFormats {
  constructor(
    private readonly kinds: readonly Kind[],
    private readonly from1904: boolean,
  ) {}

  /** @param style the number of the cell's format */
  show(value: number, style: number): string {
    if (!Number.isFinite(value)) return '';
    const kind = this.kinds[style] ?? 'number';
    if (kind === 'number') return String(Number(value.toPrecision(15)));
    if (kind === 'percent') return `${Number((value * 100).toPrecision(12))}%`;
    const ms = Math.round((value * DAY_MS) / 1_000) * 1_000;
    if (kind === 'duration')
      return `${Math.trunc(ms / 3_600_000)}:${new Date(Math.abs(ms)).toISOString().slice(14, 19)}`;
    const date = new Date(DAY_ZERO + ms + (this.from1904 ? DAYS_TO_1904 * DAY_MS : 0));
    if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999 || date.getUTCFullYear() < 1_000)
      return String(value);
    const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T');
    if (kind === 'date' || (kind === 'date-time' && Number.isInteger(value))) return day;
    const clock = time.replace(/:00$/, '');
    return kind === 'time' && value < 1 ? clock : `${day} ${clock}`;
  }
}

function kindOf(format: string): Kind {
  // Colours, languages, quoted text and escaped letters say nothing about what the number is.
  const code =
    format
      .replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]|"[^"]*"|\\./gi, '')
      .split(';')[0]
      ?.toLowerCase() ?? '';
  if (/\[[hms]/.test(code)) return 'duration';
  if (code.includes('%')) return 'percent';
  if (code.includes('general')) return 'number';
  const hasDay = /[dy]|mmm/.test(code) || /^m+$/.test(code.trim());
  const hasTime = /[hs]/.test(code);
  if (hasDay) return hasTime ? 'date-time' : 'date';
  return hasTime ? 'time' : 'number';
}

export async function readFormats(archive: Archive, from1904: boolean): Promise<NumberFormats> {
  const codes = new Map(Object.entries(BUILT_IN).map(([id, code]) => [Number(id), code]));
  const kinds: Kind[] = [];
  let inCells = false;
  await readXml(archive, 'xl/styles.xml', {
    open: (name, attributes) => {
      if (name === 'numFmt') codes.set(Number(attributes['numFmtId']), (attributes['formatCode'] ?? '').slice(0, 255));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) kinds.push(kindOf(codes.get(Number(attributes['numFmtId'])) ?? ''));
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return new NumberFormats(kinds, from1904);
}
