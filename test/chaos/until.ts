import { setTimeout as sleep } from 'node:timers/promises';

/** @returns whether the condition came to hold in time; a condition that throws does not hold */
export async function comesTrue(condition: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (
      await Promise.resolve()
        .then(condition)
        .catch(() => false)
    )
      return true;
    if (performance.now() > deadline) return false;
    await sleep(100);
  }
}

/** @throws Error when the condition does not hold in time */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 60_000,
): Promise<void> {
  if (!(await comesTrue(condition, withinMs))) throw new Error(`Waited in vain: ${what}`);
}
