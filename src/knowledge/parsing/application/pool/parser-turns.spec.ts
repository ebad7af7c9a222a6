import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_QUICK_BYTES } from '../../limits.js';
import { ParserTurn, ParserTurns } from './parser-turns.js';

const MIB = 1024 * 1024;
const never = new AbortController().signal;

let turns: ParserTurns;
let admitted: string[];
let running: Map<string, ParserTurn>;
beforeEach(() => {
  turns = new ParserTurns(3);
  [admitted, running] = [[], new Map()];
});

/** Documents are named by their organization, of which it is the first letter, and a number. */
async function come(names: string, size = 1): Promise<void> {
  for (const name of names.split(' ')) {
    const turn = new ParserTurn(name[0]!, size);
    void turns.enter(turn, never).then(() => {
      admitted.push(name);
      running.set(name, turn);
    });
  }
  await settle();
}

async function leave(...names: readonly string[]): Promise<void> {
  for (const name of names) turns.leave(running.get(name)!);
  await settle();
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const large = (names: string): Promise<void> => come(names, MAX_QUICK_BYTES + 1);

describe('parsers', () => {
  it('are never all of one organization’s', async () => {
    await come('a1 a2 a3 a4');
    expect(admitted).toEqual(['a1', 'a2']);
    await come('b1');
    expect(admitted).toEqual(['a1', 'a2', 'b1']);
  });

  it('go to the organizations in turn, and to the documents of each as they have come', async () => {
    turns = new ParserTurns(1);
    await come('a1 a2 a3 b1 c1 c2');
    for (const name of ['a1', 'b1', 'c1', 'a2', 'c2']) await leave(name);
    expect(admitted).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('go to an organization that comes before one that has just had its turn', async () => {
    turns = new ParserTurns(1);
    await come('b1 a1');
    await leave('b1');
    await come('b2 c1');
    await leave('a1');
    expect(admitted.at(-1)).toBe('c1');
  });

  it('have one large document of an organization, and leave one to small documents', async () => {
    await large('a1 a2 b1 c1');
    expect(admitted).toEqual(['a1', 'b1']);
    await come('a3');
    expect(admitted.at(-1)).toBe('a3');
    await leave('b1');
    expect(admitted.at(-1)).toBe('c1');
  });

  it('keep a document that turns out to be slow only where a large one could begin', async () => {
    await come('a1 a2 b1');
    const [a1, a2, b1] = ['a1', 'a2', 'b1'].map((name) => running.get(name)!);
    expect([turns.becomeSlow(a1!), turns.becomeSlow(a2!), turns.becomeSlow(b1!), turns.becomeSlow(a1!)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('are not taken by whoever gives up, before or in the moment of the turn', async () => {
    turns = new ParserTurns(1);
    await come('a1');
    const [early, late] = [new AbortController(), new AbortController()];
    const waiting = [early, late].map(({ signal }) =>
      expect(turns.enter(new ParserTurn('b', 1), signal)).rejects.toThrow('given up'),
    );
    early.abort(new Error('given up'));
    turns.leave(running.get('a1')!);
    late.abort(new Error('given up'));
    await Promise.all(waiting);
    await come('c1');
    expect(admitted).toEqual(['a1', 'c1']);
  });
});

it.each([
  [0, 10],
  [MIB - 1, 10],
  [MIB, 11],
  [20 * MIB, 30],
  [50 * MIB, 60],
  [64 * MIB, 60],
])('a document of %d bytes may take %d s of processor time', (size, seconds) => {
  expect(new ParserTurn('a', size).limitMs).toBe(seconds * 1_000);
});
