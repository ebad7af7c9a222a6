import { readdirSync, readFileSync } from 'node:fs';
import type { Connections } from './databases.ts';

const EVERY_MS = 100;
const MIB = 1024 * 1024;

export interface Sample {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly residentMiB: number;
  readonly connections?: Connections;
}

/** Resident memory of a process, as Linux counts it. */
export function residentMiB(pid: number): number {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kib) * 1024) / MIB;
}

/** Ticks a second of processor times: 100 on every architecture that Node supports. */
const TICK_MS = 10;

/** Processor milliseconds of a process with all its threads. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name may contain spaces; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

const NS_PER_MS = 1_000_000;

/** Processor milliseconds of the threads that a process has now: exact, for short times in which no thread ends. */
export function threadsMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`);
  return threads.reduce((total, file) => total + Number(readFileSync(file, 'utf8').split(' ')[0]) / NS_PER_MS, 0);
}

/** Samples a process and its connections ten times a second until it is stopped. */
export function watch(pid: number, connections?: () => Promise<Connections>): { stop(): Promise<readonly Sample[]> } {
  const samples: Sample[] = [];
  let looking = Promise.resolve();
  const look = async (): Promise<void> => {
    const at = Date.now();
    samples.push({ at, residentMiB: residentMiB(pid), connections: await connections?.() });
  };
  const timer = setInterval(() => {
    // The process has ended; the code that orders the runs reports the cause.
    looking = looking.then(look).catch(() => {
      clearInterval(timer);
    });
  }, EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
      return samples;
    },
  };
}
