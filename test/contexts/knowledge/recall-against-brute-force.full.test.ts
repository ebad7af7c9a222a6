import { beforeAll, expect, it } from '@jest/globals';
import { ZipfText } from '../../../bench/knowledge-text.ts';
import { stemsOf } from '../../../src/platform/text/index.js';
import { useService } from '../../support/harness.js';
import { Knowledge } from './support.js';

const service = useService();

const GROUPS = 20;
const CHUNKS_A_DOCUMENT = 20;
/** `RECALL_CHUNKS=100000` takes some minutes, so it is not the default. */
const CHUNKS = Number(process.env['RECALL_CHUNKS'] ?? 10_000);
const DOCUMENTS = CHUNKS / CHUNKS_A_DOCUMENT;
const QUERIES = 40;
const TITLE = 'Handbook';

/** A chunk for the exhaustive ranking. */
interface Sample {
  readonly group: number;
  readonly words: readonly string[];
}

const samples = new Map<string, Sample>();
let knowledge: Knowledge;

beforeAll(async () => {
  knowledge = await Knowledge.start(service);
  const text = new ZipfText(5);
  for (let document = 0; document < DOCUMENTS; document += 1) {
    const group = document % GROUPS;
    const texts = Array.from({ length: CHUNKS_A_DOCUMENT }, (_, part) =>
      text.of(20 + ((document + part) % 40)).join(' '),
    );
    const blocks = texts.flatMap((content, part) => [
      { kind: 'heading' as const, level: 1, text: `Part${String(part)}` },
      { kind: 'text' as const, text: content },
    ]);
    const { documentId } = await knowledge.put(`d${String(document)}`, blocks, {
      title: TITLE,
      scope: { [`group${String(group)}`]: true },
    });
    for (const [part, { id }] of (await knowledge.chunks(documentId)).entries())
      samples.set(id, { group, words: stemmed(texts[part] ?? '') });
  }
}, 24 * CHUNKS);

function stemmed(text: string): string[] {
  return text.split(' ').map((word) => stemsOf(word, [])[0] ?? word);
}

/** BM25 with nearness as in `domain/ranking.ts`, computed for each chunk. */
function bruteForce(query: string, groups: number): Map<string, number> {
  const visible = [...samples].filter(([, { group }]) => group < groups);
  // The title and the heading have one word each.
  const lengthOf = (words: readonly string[]): number => words.length + 2;
  const average = visible.reduce((sum, [, { words }]) => sum + lengthOf(words), 0) / visible.length;
  const asked = [...new Set(stemmed(query))].map((word) => {
    const having = visible.filter(([, { words }]) => words.includes(word)).length;
    return { word, having, information: Math.log(1 + (visible.length - having + 0.5) / (having + 0.5)) };
  });
  const information = asked.reduce((sum, one) => sum + one.information, 0);
  const pairs = asked.slice(1).map((right, index) => ({
    left: asked[index]?.word ?? '',
    right: right.word,
    weight: Math.min(right.information, asked[index]?.information ?? 0),
  }));
  const weights = pairs.reduce((sum, { weight }) => sum + weight, 0);
  const scores = visible.map(([id, { words }]): [string, number] => {
    const each = asked.map((one) => {
      const times = words.filter((word) => word === one.word).length;
      return (one.information * times * 1.6) / (times + 0.6 * (0.25 + (0.75 * lengthOf(words)) / average));
    });
    const near = pairs.map(({ left, right, weight }) => {
      const placesOf = (wanted: string): number[] => words.flatMap((word, place) => (word === wanted ? [place] : []));
      const distances = placesOf(left).flatMap((one) => placesOf(right).map((other) => Math.abs(one - other)));
      const least = Math.min(...distances);
      return least > 60 ? 0 : weight / (1 + Math.max(0, least - 1) / 4);
    });
    const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
    return [id, 1 - Math.exp(-1.6 * (total(each) / information + (0.4 * total(near)) / weights) ** 1.75)];
  });
  return new Map(scores);
}

it.each([GROUPS, GROUPS / 2, 1])(
  'finds the first ten of an exhaustive ranking in a run that sees %d of 20 parts of many chunks',
  async (groups) => {
    const text = new ZipfText(99);
    const userContext = Object.fromEntries(
      Array.from({ length: groups }, (_, group) => [`group${String(group)}`, true]),
    );
    let [hits, wanted] = [0, 0];
    for (let count = 0; count < QUERIES; count += 1) {
      const known = new Set([...samples.values()].filter(({ group }) => group < groups).flatMap(({ words }) => words));
      const query = text.of(2 + (count % 4)).filter((word) => known.has(stemmed(word)[0] ?? ''));
      if (new Set(stemmed(query.join(' '))).size < 2) continue;
      const scores = bruteForce(query.join(' '), groups);
      const tenth = [...scores.values()].sort((left, right) => right - left)[9] ?? 0;
      const found = await (await knowledge.prepare(query.join(' '), userContext)).top(10);
      for (const { chunkId, score } of found) {
        // Chunks of equal score are interchangeable.
        if ((scores.get(chunkId) ?? 0) > tenth - 1e-6) hits += 1;
        expect(score).toBeCloseTo(scores.get(chunkId) ?? 0, 5);
      }
      wanted += Math.min(10, [...scores.values()].filter((score) => score > 0).length);
    }
    expect(wanted).toBeGreaterThan(QUERIES * 5);
    expect(hits / wanted).toBeGreaterThanOrEqual(0.98);
  },
  12 * CHUNKS,
);
