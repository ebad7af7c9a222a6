import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** V8's own. */
const GROWTH_FACTOR = 2;
/** Size of the young generation from which a larger one saves no processor time of runs. V8's limit is the double of it. */
const ENOUGH_BYTES = 64 * 1024 * 1024;

/**
 * Keeps the young generation of the heap at its first size until the returned function is called. Loading the service makes many
 * objects that stay, by which V8 sizes the young generation, and an idle process would keep the memory: V8 gives it back only after a
 * collection of the whole heap. From then on the young generation grows with the load, but not beyond `ENOUGH_BYTES`.
 * From the first call on, objects of literals begin in it too, always.
 */
export function keepYoungGenerationSmall(): () => void {
  setGrowthFactor(1);
  // Otherwise V8 creates all arrays of a literal in the old generation once most of those that it looked at had outlived a
  // collection, and did so with the parameters of statements.
  setFlagsFromString('--no-allocation-site-pretenuring');
  return growUntilEnough;
}

/** V8 reads the factor after each collection, and grows only after several: the observer sees each size in time. */
function growUntilEnough(): void {
  let factor = GROWTH_FACTOR;
  setGrowthFactor(factor);
  const observer = new PerformanceObserver(() => {
    // V8 may have shrunk it in a pause.
    const wanted = youngGenerationBytes() < ENOUGH_BYTES ? GROWTH_FACTOR : 1;
    if (wanted !== factor) setGrowthFactor((factor = wanted));
  });
  observer.observe({ type: 'gc' });
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}

function setGrowthFactor(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}
