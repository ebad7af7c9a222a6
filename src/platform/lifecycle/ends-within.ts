import type { Clock } from '../clock/index.js';

/** False when `work` is not done after `ms`; it goes on, unobserved. Rejects as `work` does. */
export function endsWithin(ms: number, clock: Clock, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false));
    work.then(() => resolve(true), reject).finally(cancel);
  });
}
