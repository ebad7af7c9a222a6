import { describe, expect, it } from '@jest/globals';
import { TurnQueue } from './turn-queue.js';

const ignore = (): void => undefined;

function queueOf(...waiters: readonly (readonly [origin: string, isFile: boolean])[]): TurnQueue {
  const queue = new TurnQueue();
  for (const [origin, isFile] of waiters) queue.add({ origin, isFile, admit: ignore, refuse: ignore });
  return queue;
}

function order(queue: TurnQueue, withFiles = true): string {
  let taken = '';
  for (let waiter = queue.take(withFiles); waiter; waiter = queue.take(withFiles)) taken += waiter.origin;
  return taken;
}

describe('those who wait', () => {
  it('take turns by their origins', () => {
    expect(order(queueOf(['a', true], ['a', true], ['a', true], ['b', true], ['c', false], ['c', false]))).toBe('abcaca');
  });

  it('come before those of an origin that has just had its turn, without waiting or before they came', () => {
    const queue = queueOf(['a', true]);
    queue.hadTurn('b');
    queue.add({ origin: 'b', isFile: true, admit: ignore, refuse: ignore });
    queue.add({ origin: 'c', isFile: true, admit: ignore, refuse: ignore });
    expect(order(queue)).toBe('acb');
    expect(order(queueOf(['b', true]))).toBe('b');
  });

  it('are pages alone where no file may be taken', () => {
    const queue = queueOf(['a', true], ['a', false], ['b', true], ['c', false]);
    expect([order(queue, false), queue.size, order(queue)]).toEqual(['ac', 2, 'ba']);
  });
});
