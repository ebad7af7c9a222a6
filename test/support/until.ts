export interface Patience {
  readonly withinMs?: number;
  /** Interval of the checks; 0 checks at each turn of the event loop. */
  readonly everyMs?: number;
}

/** Resolves once `condition` holds. @throws after 60 s, or `withinMs` */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  { withinMs = 60_000, everyMs = 5 }: Patience = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain: ${what}`);
    await new Promise((resolve) => (everyMs === 0 ? setImmediate(resolve) : setTimeout(resolve, everyMs)));
  }
}
