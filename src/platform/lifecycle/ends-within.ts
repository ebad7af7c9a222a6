import type { Clock } from '../clock/index.js';

/** Resolves to false if `work` has not ended after `ms`; it continues unobserved. Rejects if `work` rejects. */
export function endsWithin(ms: number, clock: Clock, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false));
    work.then(() => resolve(true), reject).finally(cancel);
  });
}
