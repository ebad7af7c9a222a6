import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { SystemClock } from './clock.js';

describe('monotonic time', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([3_836.815, 4_040.8, 5_103.656])('gives back exactly what was added to it, at %d ms', (at) => {
    jest.spyOn(performance, 'now').mockReturnValue(at);
    const now = new SystemClock().monotonic();
    expect(now + 30_000 - now).toBe(30_000);
  });

  it('measures whole milliseconds', () => {
    const elapsed = jest.spyOn(performance, 'now').mockReturnValueOnce(10.9);
    const { elapsedMs } = new SystemClock().stopwatch();
    elapsed.mockReturnValue(12.2);
    expect(elapsedMs()).toBe(2);
  });
});
