import { setFlagsFromString } from 'node:v8';

/** V8's own. */
const GROWTH_FACTOR = 2;

/**
 * Keeps the young generation of the heap at its first size until the returned function is called. Loading the service makes many
 * objects that stay, by which V8 sizes the young generation to 64 MB, and an idle process would keep them: V8 gives this memory
 * back only after a collection of the whole heap. Under load the young generation grows to the size that the load needs.
 */
export function keepYoungGenerationSmall(): () => void {
  setGrowthFactor(1);
  return () => setGrowthFactor(GROWTH_FACTOR);
}

function setGrowthFactor(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
