import { readdirSync, readFileSync } from 'node:fs';

/** Figures of Linux about one process. */
interface Stat {
  readonly name: string;
  readonly parent: number;
  /** Processor milliseconds of reaped children and of theirs. */
  readonly endedChildrenMs: number;
}

/** Ticks a second of such times: 100 on every architecture that Node supports. */
const TICK_MS = 10;
const NS_PER_MS = 1_000_000;

function statOf(pid: number): Stat | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name may contain spaces and brackets. The parent is the 2nd field after it, the children's times are the 14th and 15th.
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { name, parent: Number(fields[1]), endedChildrenMs: (Number(fields[13]) + Number(fields[14])) * TICK_MS };
}

/** Processor time of a process with one thread, like PostgreSQL's: exact, whereas `stat` has whole ticks. */
function runningMs(pid: number): number {
  const [ran = '0'] = (read(`/proc/${pid}/schedstat`) ?? '').split(' ');
  return Number(ran) / NS_PER_MS;
}

/** @returns undefined if there is no such process */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The processes of a PostgreSQL server on this machine: the first one and its descendants. */
export class PostgresProcesses {
  private readonly postmaster: number;

  private constructor(postmaster: number) {
    this.postmaster = postmaster;
  }

  /**
   * @param backend id of the process that serves a connection of the bench, from the server
   * @returns undefined if the server is on another machine
   */
  static of(backend: number): PostgresProcesses | undefined {
    const stat = statOf(backend);
    if (stat?.name !== 'postgres' || statOf(stat.parent)?.name !== 'postgres') return undefined;
    return runningMs(backend) > 0 ? new PostgresProcesses(stat.parent) : undefined;
  }

  /**
   * Processor milliseconds of all of them since the server's start, including ended ones in whole ticks: if some have ended, the difference
   * of two readings can be two ticks too small.
   */
  processorMs(): number {
    for (;;) {
      const before = this.endedMs();
      const running = this.running().reduce((total, pid) => total + runningMs(pid), 0);
      // Otherwise a process that ended during the reading would be counted twice or not at all.
      if (this.endedMs() === before) return before + running;
    }
  }

  private endedMs(): number {
    const stat = statOf(this.postmaster);
    if (!stat) throw new Error('The PostgreSQL server has ended');
    return stat.endedChildrenMs;
  }

  private running(): number[] {
    const all = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
    return all.filter((pid) => pid === this.postmaster || statOf(pid)?.parent === this.postmaster);
  }
}
