import type { RunLogEntry, RunLogWriter } from './run-log.js';

/** Is told what becomes of a log, as it happens. */
export interface LogListener {
  appended(entry: RunLogEntry): void;
  ended(): void;
}

/** The log of one run in this process's memory. */
export class MemoryLog implements RunLogWriter {
  bytes = 0;
  /** How many entries there are, which is the number of the last one. */
  length = 0;
  private entries: RunLogEntry[] = [];
  /** The entries, once nothing is added to them any more. */
  private packed: Buffer | undefined;
  private readonly waiting = new Set<() => void>();
  private state: 'open' | 'ended' | 'sealed' = 'open';
  private failure: Error | undefined;

  constructor(private readonly listener?: LogListener) {}

  get ended(): boolean {
    return this.state !== 'open';
  }

  append(tag: string, data: string): void {
    if (this.state === 'sealed') return;
    if (this.state === 'ended') throw new Error('The log of this run has ended');
    const entry = { number: this.length + 1, tag, data };
    this.entries.push(entry);
    this.length += 1;
    this.bytes += data.length;
    this.wake();
    this.listener?.appended(entry);
  }

  end(): void {
    this.finish('ended');
  }

  seal(tag: string, data: string): void {
    if (this.ended) return;
    this.append(tag, data);
    this.finish('sealed');
  }

  /** Readers get what there is and then this error: it is not known how the log goes on. */
  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  async *read(after: number, signal: AbortSignal): AsyncGenerator<readonly RunLogEntry[]> {
    let cursor = after;
    while (!signal.aborted) {
      if (cursor < this.length) {
        const batch = (this.packed ? unpack(this.packed) : this.entries).slice(cursor);
        cursor += batch.length;
        yield batch;
      } else if (this.ended) {
        return;
      } else if (this.failure) {
        throw this.failure;
      } else {
        await this.change(signal);
      }
    }
  }

  private finish(state: 'ended' | 'sealed'): void {
    if (this.ended) return;
    this.state = state;
    this.wake();
    this.listener?.ended();
    // After those who wait for the end have read it, which is soon and nearly always the last reading.
    setImmediate(() => {
      this.packed = pack(this.entries);
      this.entries = [];
    });
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  private wake(): void {
    for (const wake of this.waiting) wake();
  }
}

/** A whole log outside of the heap, where the garbage collector does not move and mark thousands of entries for minutes. */
function pack(entries: readonly RunLogEntry[]): Buffer {
  return Buffer.from(JSON.stringify(entries));
}

function unpack(packed: Buffer): RunLogEntry[] {
  return JSON.parse(packed.toString()) as RunLogEntry[];
}
