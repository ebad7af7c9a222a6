const ATTEMPTS = 3;

/** Milliseconds for which this thread has computed since `before`: what other processes of the machine take does not count. */
export function computedMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Milliseconds that `work` computes, the least of some attempts: compiling and collecting garbage come and go. */
export function computingMs(work: () => void): number {
  const takes = Array.from({ length: ATTEMPTS }, () => {
    const before = process.threadCpuUsage();
    work();
    return computedMs(before);
  });
  return Math.min(...takes);
}

const NAMES = Array.from({ length: 60_000 }, (_, index) => `name${(index * 7_919) % 60_000}`);

/** A fixed amount of typical work. */
function unitOfWork(): void {
  const text = JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, name.length])));
  Object.keys(JSON.parse(text) as object).sort();
}

/** The computing time of `work` as a multiple of a fixed amount of work, which a slow machine slows as well. */
export function computingUnits(work: () => void): number {
  return computingMs(work) / computingMs(unitOfWork);
}

/** Shorter turns of the event loop are not counted. */
const SHORTEST_TURN_MS = 1;

/**
 * The longest turn of the event loop while `work` computes, as a share of its computing time; the smallest of some attempts. It is near 1 if the
 * work blocks the thread until it ends.
 */
export async function longestTurnShare(work: () => Promise<unknown>): Promise<number> {
  let least = 1;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) least = Math.min(least, await turnShareOf(work));
  return least;
}

async function turnShareOf(work: () => Promise<unknown>): Promise<number> {
  const turns: number[] = [];
  let before = process.threadCpuUsage();
  const turn = (): void => {
    turns.push(computedMs(before));
    before = process.threadCpuUsage();
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  await work();
  clearImmediate(next);
  turns.push(computedMs(before));
  const working = turns.filter((ms) => ms >= SHORTEST_TURN_MS);
  return Math.max(...working) / working.reduce((sum, ms) => sum + ms, 0);
}
