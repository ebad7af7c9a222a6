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

/** A fixed piece of work, of what code here does all day: some 100 ms where a bound of 500 ms is generous. */
function unitOfWork(): void {
  const text = JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, name.length])));
  Object.keys(JSON.parse(text) as object).sort();
}

/** What `work` computes, as a multiple of a fixed piece of work: on a machine that computes slowly both take longer. */
export function computingUnits(work: () => void): number {
  return computingMs(work) / computingMs(unitOfWork);
}
