import { beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_QUICK_BYTES } from '../../limits.js';
import { ParserQueue, QueuedDocument } from './parser-queue.js';

const MIB = 1024 * 1024;
const never = new AbortController().signal;

let queue: ParserQueue;
let admitted: string[];
let running: Map<string, QueuedDocument>;
beforeEach(() => {
  queue = new ParserQueue(3);
  [admitted, running] = [[], new Map()];
});

/** The first letter of a document's name is its organization. */
async function enter(names: string, size = 1): Promise<void> {
  for (const name of names.split(' ')) {
    const document = new QueuedDocument(name[0]!, size);
    void queue.enter(document, never).then(() => {
      admitted.push(name);
      running.set(name, document);
    });
  }
  await settle();
}

async function leave(...names: readonly string[]): Promise<void> {
  for (const name of names) queue.leave(running.get(name)!);
  await settle();
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const large = (names: string): Promise<void> => enter(names, MAX_QUICK_BYTES + 1);

describe('parsers', () => {
  it('are never all used by one organization', async () => {
    await enter('a1 a2 a3 a4');
    expect(admitted).toEqual(['a1', 'a2']);
    await enter('b1');
    expect(admitted).toEqual(['a1', 'a2', 'b1']);
  });

  it('go to the organizations in turn, and within one to its documents in their order', async () => {
    queue = new ParserQueue(1);
    await enter('a1 a2 a3 b1 c1 c2');
    for (const name of ['a1', 'b1', 'c1', 'a2', 'c2']) await leave(name);
    expect(admitted).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('go to a new organization before one that has just used a parser', async () => {
    queue = new ParserQueue(1);
    await enter('b1 a1');
    await leave('b1');
    await enter('b2 c1');
    await leave('a1');
    expect(admitted.at(-1)).toBe('c1');
  });

  it('parse one large document of an organization at a time, and one parser is left to small documents', async () => {
    await large('a1 a2 b1 c1');
    expect(admitted).toEqual(['a1', 'b1']);
    await enter('a3');
    expect(admitted.at(-1)).toBe('a3');
    await leave('b1');
    expect(admitted.at(-1)).toBe('c1');
  });

  it('keep a document that turns out to be slow only if a large one could start', async () => {
    await enter('a1 a2 b1');
    const [a1, a2, b1] = ['a1', 'a2', 'b1'].map((name) => running.get(name)!);
    expect([queue.becomeSlow(a1!), queue.becomeSlow(a2!), queue.becomeSlow(b1!), queue.becomeSlow(a1!)]).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('are not used by a document whose caller aborts, before or at the moment of its admission', async () => {
    queue = new ParserQueue(1);
    await enter('a1');
    const [early, late] = [new AbortController(), new AbortController()];
    const waiting = [early, late].map(({ signal }) =>
      expect(queue.enter(new QueuedDocument('b', 1), signal)).rejects.toThrow('aborted'),
    );
    early.abort(new Error('aborted'));
    queue.leave(running.get('a1')!);
    late.abort(new Error('aborted'));
    await Promise.all(waiting);
    await enter('c1');
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
  expect(new QueuedDocument('a', size).limitMs).toBe(seconds * 1_000);
});
