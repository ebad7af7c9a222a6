import { expect, it } from '@jest/globals';
import { Semaphore } from './semaphore.js';

it('runs at most that many at a time, in order, also when some fail', async () => {
  const semaphore = new Semaphore(2);
  const began: number[] = [];
  let [now, most] = [0, 0];
  const work = (index: number) => async (): Promise<number> => {
    began.push(index);
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    if (index % 3 === 0) throw new Error(`no ${index}`);
    return index;
  };
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => semaphore.run(work(index))));
  expect(most).toBe(2);
  expect(began).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(results.map((result) => (result.status === 'fulfilled' ? result.value : null))).toEqual(
    began.map((index) => (index % 3 === 0 ? null : index)),
  );
  expect(await semaphore.run(work(1))).toBe(1);
});
