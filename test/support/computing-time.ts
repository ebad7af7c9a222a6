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
