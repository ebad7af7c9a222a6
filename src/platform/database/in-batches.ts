/** What one statement may carry: the embedded database works in this process's own thread, some 5 ms for each 100 KB. */
const BATCH_BYTES = 512 * 1024;

/**
 * The items in their order, in groups that one statement each may carry; an item that is larger is a group of its own.
 * @param most bytes of a group, where what they are read into takes longer than text
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
