/** How much of the main content of pages is in their chunks, and how many chunks contain something else. */
import { round, sum } from '../figures.ts';
import { table } from '../table.ts';
import { type MainContent, UNIT_KINDS, type Unit } from './main-content.ts';
import { Shingles, wordsOf } from './shingles.ts';

/** The share of a unit's words that its chunks must contain. It is not 1, because punctuation may be joined to a word on one side only. */
const ENOUGH = 0.95;
const WORST = 25;

export interface ChunkText {
  readonly heading: string | null;
  readonly text: string;
}

export interface PageCoverage {
  readonly key: string;
  readonly units: number;
  readonly lost: readonly Unit[];
  readonly chunks: number;
  readonly boilerplate: readonly string[];
  /** Words of the units, and words of the chunks: their ratio is how often the words of the page are stored. */
  readonly words: number;
  readonly heldWords: number;
}

export function coverageOf(
  key: string,
  main: MainContent,
  chunks: readonly ChunkText[],
  title: string | null,
): PageCoverage {
  const held = new Shingles(
    wordsOf([title ?? '', ...chunks.map(({ heading, text }) => `${heading ?? ''}\n${text}`)].join('\n')),
  );
  const allowed = new Shingles(wordsOf(main.text));
  const lost = main.units.filter((unit) => !isCovered(unit, held));
  const boilerplate = chunks
    .map(({ text }) => text)
    .filter((text) => {
      const words = wordsOf(text);
      return words.length > 0 && allowed.covered(words) < words.length / 2;
    });
  return {
    key,
    units: main.units.length,
    lost,
    chunks: chunks.length,
    boilerplate,
    words: wordsOf(main.units.flatMap(({ parts }) => parts).join(' ')).length,
    heldWords: sum(chunks.map(({ text }) => wordsOf(text).length)),
  };
}

function isCovered({ parts }: Unit, held: Shingles): boolean {
  const all = wordsOf(parts.join(' '));
  // A chunk may contain the names of the columns between the cells of a row.
  return (
    held.covered(all) >= ENOUGH * all.length ||
    (parts.length > 1 && sum(parts.map((part) => held.covered(wordsOf(part)))) >= ENOUGH * all.length)
  );
}

function share(part: number, whole: number): string {
  return whole === 0 ? '-' : `${round((100 * part) / whole, 2)} %`;
}

/** A table by prefix of the keys, and the lost units of each kind. */
export function coverageText(pages: readonly PageCoverage[]): string {
  const groups = [...new Set(pages.map(({ key }) => key.split('/')[0] ?? ''))];
  const row = (name: string, of: readonly PageCoverage[]): (string | number)[] => {
    const [units, lost, chunks] = [
      sum(of.map((page) => page.units)),
      sum(of.map((page) => page.lost.length)),
      sum(of.map((page) => page.chunks)),
    ];
    const whole = of.filter((page) => page.lost.length <= 0.01 * page.units).length;
    const boilerplate = sum(of.map((page) => page.boilerplate.length));
    return [
      name,
      of.length,
      units,
      share(units - lost, units),
      share(whole, of.length),
      chunks,
      share(boilerplate, chunks),
      round(sum(of.map((page) => page.heldWords)) / (sum(of.map((page) => page.words)) || 1), 2),
    ];
  };
  const figures = table(
    ['Pages of', 'Pages', 'Units', 'In a chunk', 'Pages with 99 %', 'Chunks', 'Boilerplate', 'Words held / of units'],
    [
      ...groups.map((name) =>
        row(
          name,
          pages.filter(({ key }) => key.startsWith(`${name}/`)),
        ),
      ),
      row('all', pages),
    ],
  );
  const lost = pages.flatMap((page) => page.lost);
  return [
    figures,
    `Lost: ${UNIT_KINDS.map((kind) => `${lost.filter((unit) => unit.kind === kind).length} of kind "${kind}"`).join(', ')}.`,
  ].join('\n\n');
}

/** The pages with the most losses and their first losses, for work on the reader. */
export function worstText(pages: readonly PageCoverage[], examples: number): string {
  const shorten = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 160);
  const bad = (page: PageCoverage): number =>
    page.lost.length / (page.units || 1) + page.boilerplate.length / (page.chunks || 1);
  const worst = pages
    .filter((page) => bad(page) > 0)
    .sort((left, right) => bad(right) - bad(left))
    .slice(0, WORST);
  return worst
    .map((page) =>
      [
        `${page.key}: ${page.lost.length} of ${page.units} units lost, ${page.boilerplate.length} of ${page.chunks} chunks are boilerplate`,
        ...page.lost.slice(0, examples).map(({ kind, parts }) => `  lost ${kind}: ${shorten(parts.join(' | '))}`),
        ...page.boilerplate.slice(0, examples).map((text) => `  boilerplate: ${shorten(text)}`),
      ].join('\n'),
    )
    .join('\n');
}
