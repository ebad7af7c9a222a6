import { readdirSync, readFileSync } from 'node:fs';

/** What Linux tells of one process. */
interface Stat {
  readonly name: string;
  readonly parent: number;
  /** Milliseconds on a processor of children that have ended and were waited for, and of theirs. */
  readonly endedChildrenMs: number;
}

/** Ticks of the clock that Linux counts such times in; 100 a second on every architecture that Node runs on. */
const TICK_MS = 10;
const NS_PER_MS = 1_000_000;

function statOf(pid: number): Stat | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name may hold blanks and brackets; the parent is the 2nd field after it, the children's times the 14th and 15th.
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { name, parent: Number(fields[1]), endedChildrenMs: (Number(fields[13]) + Number(fields[14])) * TICK_MS };
}

/** Time on a processor of a process with one thread, as PostgreSQL's are: exact, where `stat` has whole ticks. */
function runningMs(pid: number): number {
  const [ran = '0'] = (read(`/proc/${pid}/schedstat`) ?? '').split(' ');
  return Number(ran) / NS_PER_MS;
}

/** @returns undefined when there is no such process (any more) */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** The processes of a PostgreSQL server on this machine: its first one, and all that it has started. */
export class PostgresProcesses {
  private readonly postmaster: number;

  private constructor(postmaster: number) {
    this.postmaster = postmaster;
  }

  /**
   * @param backend id of the process that serves a connection of ours, as the server itself tells it
   * @returns undefined when the server is not on this machine, so that the id means nothing here
   */
  static of(backend: number): PostgresProcesses | undefined {
    const stat = statOf(backend);
    if (stat?.name !== 'postgres' || statOf(stat.parent)?.name !== 'postgres') return undefined;
    return runningMs(backend) > 0 ? new PostgresProcesses(stat.parent) : undefined;
  }

  /**
   * Milliseconds on a processor that all of them have had since the server's start. What a process had counts
   * on when it has ended, then in whole ticks: where some did, two readings can be two ticks less apart than they should.
   */
  processorMs(): number {
    for (;;) {
      const before = this.endedMs();
      const running = this.running().reduce((total, pid) => total + runningMs(pid), 0);
      // Otherwise one ended in between, and would be counted twice or not at all.
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
