import { ServiceProcess } from './service-process.js';

/** On a core with the pace `REFERENCE_PACE_MS`. The limit grows in proportion on a slower or busier core. */
const MAX_STALL_MS = 100;
const REFERENCE_PACE_MS = 25;
const MAX_MEMORY_MIB = 100;
const ATTEMPTS = 3;

export interface Cost {
  readonly stallMs: number;
  readonly maxStallMs: number;
  readonly memoryMiB: number;
}

/** The built service, which measures the cost of its requests. */
export function startWatched(environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const nodeOptions = ['--max-old-space-size=512', '--expose-gc'];
  return ServiceProcess.start({ entry: 'test/support/watched-service.mjs', nodeOptions, environment });
}

/**
 * The cost of a request as the service measures it, without the work of other processes. Processes on one core still slow each other
 * down, so the result is the best of several attempts, with a limit for the pace of the process at that time.
 */
export async function watchedCost<Result>(
  child: ServiceProcess,
  request: () => Promise<Result>,
): Promise<Cost & { readonly result: Result }> {
  let best: Cost = { stallMs: Infinity, maxStallMs: MAX_STALL_MS, memoryMiB: Infinity };
  for (let attempt = 1; ; attempt += 1) {
    await child.ask('watch');
    const result = await request();
    const { stallMs, memoryMiB } = (await child.ask('report')) as Omit<Cost, 'maxStallMs'>;
    const pace = stallMs > best.maxStallMs ? ((await child.ask('pace')) as number) : 0;
    best = {
      stallMs: Math.min(best.stallMs, stallMs),
      maxStallMs: Math.max(best.maxStallMs, (MAX_STALL_MS * pace) / REFERENCE_PACE_MS),
      memoryMiB: Math.min(best.memoryMiB, memoryMiB),
    };
    if (isHarmless(best) || attempt === ATTEMPTS) return { ...best, result };
  }
}

export function isHarmless({ stallMs, maxStallMs, memoryMiB }: Cost): boolean {
  return stallMs <= maxStallMs && memoryMiB <= MAX_MEMORY_MIB;
}
