import { describe, expect, it } from '@jest/globals';
import { BackgroundPace } from './background-pace.js';
import type { OpenRequests } from './open-requests.js';

/** Records the beginnings and ends of work in order. Each piece of work ends with the promise `ends`. */
function site(open: number): {
  readonly pace: BackgroundPace;
  readonly requests: { count: number };
  readonly seen: string[];
  readonly work: (name: string, ends?: Promise<undefined>) => () => Promise<string>;
} {
  const requests = { count: open };
  const seen: string[] = [];
  const work =
    (name: string, ends: Promise<undefined> = Promise.resolve(undefined)) =>
    async (): Promise<string> => {
      seen.push(`${name} begins`);
      await ends;
      seen.push(`${name} ends`);
      return name;
    };
  return { pace: new BackgroundPace(requests as OpenRequests), requests, seen, work };
}

describe('background work', () => {
  it('runs concurrently while no request is open', async () => {
    const { pace, seen, work } = site(0);
    const both = Promise.all([pace.run(work('a')), pace.run(work('b'))]);
    expect(seen).toEqual(['a begins', 'b begins']);
    expect(await both).toEqual(['a', 'b']);
  });

  it('runs one piece after the other while requests are open', async () => {
    const { pace, seen, work } = site(1);
    const gate = Promise.withResolvers<undefined>();
    const all = Promise.all([pace.run(work('a', gate.promise)), pace.run(work('b')), pace.run(work('c'))]);
    await Promise.resolve();
    expect(seen).toEqual(['a begins']);
    gate.resolve(undefined);
    expect(await all).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('continues after a piece that failed, and rejects the promise of its caller', async () => {
    const { pace, work } = site(1);
    const broken = pace.run(() => Promise.reject(new Error('broken')));
    const next = pace.run(work('next'));
    await expect(broken).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });

  it('pauses after each piece while requests are open, and not afterwards', async () => {
    const { pace, requests, work } = site(1);
    const busy = (ms: number) => (): Promise<void> => {
      const until = performance.now() + ms;
      while (performance.now() < until);
      return Promise.resolve();
    };
    await pace.run(busy(20));
    const ended = performance.now();
    await pace.run(work('later'));
    expect(performance.now() - ended).toBeGreaterThanOrEqual(35);
    const last = pace.run(busy(40));
    requests.count = 0;
    await last;
    expect(await pace.run(work('at once'))).toBe('at once');
  });
});
