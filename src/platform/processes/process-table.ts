import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as yieldToOthers } from 'node:timers/promises';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Identifies a process together with its pid, which may be reused. */
  readonly startTime: string;
}

/** The unit in which Linux reports processor time, on all machines. */
const MS_PER_TICK = 10;

/** A machine may have thousands of processes, so other work is handled between batches of them. */
const READ_AT_ONCE = 100;

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or belongs to another user.
    return '';
  }
}

/** Without the first two fields; empty without /proc. */
function fieldsOf(pid: number): readonly string[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // The name is in brackets and may contain anything, including brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Undefined for a process that has ended, even if its parent has not yet collected it. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const [state, parent, group, session, ...others] = fieldsOf(pid);
  const startTime = others[15];
  if (state === undefined || state === 'Z' || state === 'X' || startTime === undefined) return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startTime };
}

/** Every process that is visible to this one; empty without /proc. */
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

/** Resident memory of a process in bytes; 0 if it has ended. */
export function residentBytes(pid: number): number {
  const [, kib = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readOrEmpty(`/proc/${pid}/status`)) ?? [];
  return Number(kib) * 1024;
}

/** Processor time of all threads of a process in milliseconds; undefined without /proc or if it has ended. */
export function processorTimeMs(pid: number): number | undefined {
  const [user, system] = fieldsOf(pid).slice(11, 13);
  return user === undefined || system === undefined ? undefined : (Number(user) + Number(system)) * MS_PER_TICK;
}
