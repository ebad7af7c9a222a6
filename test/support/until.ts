export interface Patience {
  readonly withinMs?: number;
  /** Between two looks; 0 for the next turn of the event loop. */
  readonly everyMs?: number;
}

/** Resolves once `condition` holds; looks again and again, and gives up after 30 s unless told otherwise. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  { withinMs = 30_000, everyMs = 5 }: Patience = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => (everyMs === 0 ? setImmediate(resolve) : setTimeout(resolve, everyMs)));
  }
}
