import { readFileSync } from 'node:fs';
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

/** Ticks of the clock that Linux counts a process's time in; 100 a second on every architecture that Node runs on. */
const TICK_MS = 10;

/** Milliseconds that a process has been on a processor, with all its threads. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before it may hold blanks; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Looks at a process, and at its connections where it has some, ten times a second until told to stop. */
export function watch(pid: number, connections?: () => Promise<Connections>): { stop(): Promise<readonly Sample[]> } {
  const samples: Sample[] = [];
  let looking = Promise.resolve();
  const look = async (): Promise<void> => {
    const at = Date.now();
    samples.push({ at, residentMiB: residentMiB(pid), connections: await connections?.() });
  };
  const timer = setInterval(() => {
    // A process that has ended has nothing to look at; whoever ordered the runs sees why it has.
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
