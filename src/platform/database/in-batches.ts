/** Limit of one statement, because the embedded database blocks this thread, some 5 ms for each 100 KB. */
const BATCH_BYTES = 512 * 1024;

/**
 * Groups the items, in their order, for one statement each; a larger item is a group of its own.
 * @param most bytes of a group, if storing them takes longer than storing text
 */
export function* inBatches<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
  most = BATCH_BYTES,
): Generator<readonly Item[]> {
  let batch: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (batch.length > 0 && bytes + size > most) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
