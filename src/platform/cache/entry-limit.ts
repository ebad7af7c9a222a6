/**
 * The limit of an `LRUCache`, as a number of entries of any size. For its own option `max`, the library reserves the memory of all of
 * them at once.
 */
export function entryLimit(entries: number): { readonly maxSize: number; readonly sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
