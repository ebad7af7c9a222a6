import { type Clock, SystemClock } from '../clock/index.js';
import { MAX_MEMORY_BYTES, MAX_PROCESSES, WATCH_EVERY_MS } from './limits.js';
import type { ProcessGroup } from './process-group.js';
import { readProcessTable } from './process-table.js';

export type Excess = 'memory' | 'processes';

/** Measures running children in real time, while there are any. */
export class ProcessWatch {
  private readonly watched = new Map<ProcessGroup, (excess: Excess) => void>();
  private stop: (() => void) | undefined;
  private isMeasuring = false;

  constructor(
    private readonly clock: Clock = new SystemClock(),
    private readonly readTable = readProcessTable,
  ) {}

  add(group: ProcessGroup, onExcess: (excess: Excess) => void): void {
    this.watched.set(group, onExcess);
    this.stop ??= this.clock.every(WATCH_EVERY_MS, () => {
      // On a machine with many processes a measurement may take longer than the interval, and than the children live.
      if (!this.isMeasuring) void this.measure();
    });
  }

  remove(group: ProcessGroup): void {
    this.watched.delete(group);
    if (this.watched.size > 0) return;
    this.stop?.();
    this.stop = undefined;
  }

  private async measure(): Promise<void> {
    this.isMeasuring = true;
    try {
      const table = await this.readTable();
      for (const [group, onExcess] of this.watched) {
        group.update(table);
        if (group.size > MAX_PROCESSES) onExcess('processes');
        else if (group.residentBytes() > MAX_MEMORY_BYTES) onExcess('memory');
      }
    } finally {
      this.isMeasuring = false;
    }
  }
}
