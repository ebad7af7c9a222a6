import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as yieldToOthers } from 'node:timers/promises';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** With the pid it names one process, also after the pid is used again. */
  readonly startTime: string;
}

/** What Linux counts processor time in, on all machines. */
const MS_PER_TICK = 10;

/** A machine may have thousands of processes, and other work must not wait until all of them are read. */
const READ_AT_ONCE = 100;

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Ended meanwhile, or somebody else's.
    return '';
  }
}

/** Without the first two; none where there is no /proc. */
function fieldsOf(pid: number): readonly string[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // The name stands in brackets and may hold anything, brackets too.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Undefined for a process that is gone or has ended. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const [state, parent, group, session, ...others] = fieldsOf(pid);
  const startTime = others[15];
  if (state === undefined || state === 'Z' || state === 'X' || startTime === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTime };
}

/** Every process that this one may see; none where there is no /proc. */
export async function readProcessTable(): Promise<readonly ProcessEntry[]> {
  const table: ProcessEntry[] = [];
  const pids = processIds();
  for (const [index, pid] of pids.entries()) {
    const entry = readProcess(pid);
    if (entry) table.push(entry);
    if (index % READ_AT_ONCE === READ_AT_ONCE - 1) await yieldToOthers();
  }
  return table;
}

function processIds(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Memory of a process that is not swapped out or shared away, in bytes; 0 once it is gone. */
export function residentBytes(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`)) ?? [];
  return Number(kib) * 1024;
}

/** Processor time that all threads of a process have taken, in milliseconds; undefined where there is no /proc, and once it is gone. */
export function processorTimeMs(pid: number): number | undefined {
  const [user, system] = fieldsOf(pid).slice(11, 13);
  return user === undefined || system === undefined ? undefined : (Number(user) + Number(system)) * MS_PER_TICK;
}
