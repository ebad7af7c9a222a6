import type { Archive } from './archive.js';
import { readXml } from './xml.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Day 0. Excel counts February 29, 1900, which did not exist. */
const DAY_ZERO = Date.UTC(1899, 11, 30);
const DAYS_TO_1904 = 1_462;
/** Built-in formats for percentages, dates and times, also those of East Asian programs. */
const BUILT_IN: readonly (readonly [code: string, ids: readonly number[]])[] = [
  ['0%', [9, 10]],
  ['d', [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]],
  ['h', [18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56]],
  ['d h', [22]],
  ['[h]', [46]],
];

type Kind = 'number' | 'percent' | 'date' | 'time' | 'date-time' | 'duration';

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
  // Without colours, languages, quoted text and escaped letters.
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
  const codes = new Map(BUILT_IN.flatMap(([code, ids]) => ids.map((id) => [id, code] as const)));
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
