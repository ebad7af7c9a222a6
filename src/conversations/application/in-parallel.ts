/** What `work` makes of each item, in their order; at most `width` are under way. The first failure ends it. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const failure: { error?: unknown; met: boolean } = { met: false };
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (failure.met) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        if (!failure.met) Object.assign(failure, { error, met: true });
      }
    }
  };
  // All workers have stopped by the end, so that nothing is begun after a failure was reported.
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
  if (failure.met) throw failure.error;
  return results;
}
