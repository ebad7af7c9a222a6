import { type ProcessEntry, readProcess, residentBytes } from './process-table.js';

/** A negative pid addresses the group of its leader; Windows has no groups. */
const GROUP = process.platform === 'win32' ? 1 : -1;

/** A child that leads its own session and group, and its descendants. */
export class ProcessGroup {
  private members: readonly ProcessEntry[] = [];

  constructor(private readonly leader: number) {}

  /** Finds the descendants. One that was found stays a member, even if it leaves the session and loses its parent. */
  update(table: readonly ProcessEntry[]): void {
    const known = new Set(this.members.map(keyOf));
    const found = new Map<number, ProcessEntry>();
    for (const entry of table) if (this.isOwn(entry) || known.has(keyOf(entry))) found.set(entry.pid, entry);
    for (let before = -1; before < found.size;) {
      before = found.size;
      for (const entry of table) if (found.has(entry.parent)) found.set(entry.pid, entry);
    }
    this.members = [...found.values()];
  }

  get size(): number {
    return this.members.length;
  }

  residentBytes(): number {
    return this.members.reduce((sum, { pid }) => sum + residentBytes(pid), 0);
  }

  terminate(): void {
    signal(GROUP * this.leader, 'SIGTERM');
  }

  /** Kills the group and every known descendant outside of it. */
  kill(): void {
    signal(GROUP * this.leader, 'SIGKILL');
    for (const member of this.members) {
      const current = readProcess(member.pid);
      if (current && keyOf(current) === keyOf(member)) signal(member.pid, 'SIGKILL');
    }
  }

  private isOwn({ pid, group, session }: ProcessEntry): boolean {
    return pid === this.leader || group === this.leader || session === this.leader;
  }
}

function keyOf({ pid, startTime }: ProcessEntry): string {
  return `${pid} ${startTime}`;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}
