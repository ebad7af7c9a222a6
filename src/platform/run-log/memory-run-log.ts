import type { Clock } from '../clock/index.js';
import { RunLog, type RunLogEntry, type RunLogWriter } from './run-log.js';
import { ENDED_LOG_BYTES, ENDED_LOG_MS } from './limits.js';

export interface LogListener {
  appended(entry: RunLogEntry): void;
  ended(): void;
}

/** Keeps ended logs for `ENDED_LOG_MS`, and removes the oldest earlier when they exceed `ENDED_LOG_BYTES`. */
export class MemoryRunLog extends RunLog {
  private readonly logs = new Map<string, MemoryLog>();
  /** When each ended log ended, the oldest first. */
  private readonly ended = new Map<string, number>();
  endedBytes = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  open(runId: string, copy?: LogListener): MemoryLog {
    this.removeOld();
    const log = new MemoryLog({
      appended: (entry) => copy?.appended(entry),
      ended: () => {
        this.ended.set(runId, this.clock.monotonic());
        this.endedBytes += log.bytes;
        copy?.ended();
      },
    });
    this.logs.set(runId, log);
    return log;
  }

  has(runId: string): boolean {
    return this.logs.has(runId);
  }

  read(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    this.removeOld();
    return Promise.resolve(this.logs.get(runId)?.read(after, signal) ?? null);
  }

  seal(runId: string, tag: string, data: string): Promise<void> {
    this.logs.get(runId)?.seal(tag, data);
    return Promise.resolve();
  }

  private removeOld(): void {
    const oldest = this.clock.monotonic() - ENDED_LOG_MS;
    for (const [runId, endedAt] of this.ended) {
      if (endedAt > oldest && this.endedBytes <= ENDED_LOG_BYTES) return;
      this.endedBytes -= this.logs.get(runId)?.bytes ?? 0;
      this.logs.delete(runId);
      this.ended.delete(runId);
    }
  }
}

export class MemoryLog implements RunLogWriter {
  bytes = 0;
  length = 0;
  private entries: RunLogEntry[] = [];
  /** The entries of an ended log outside the heap, where the garbage collector does not move and mark thousands of entries for minutes. */
  private packed: Buffer | undefined;
  private readonly waiting = new Set<() => void>();
  private wakeScheduled = false;
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

  /** Readers get the entries that are here and then this error, because the rest of the log is unknown. */
  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  async *read(after: number, signal: AbortSignal): AsyncGenerator<readonly RunLogEntry[]> {
    let cursor = after;
    const aborted = this.wake.bind(this);
    signal.addEventListener('abort', aborted, { once: true });
    try {
      while (!signal.aborted) {
        if (cursor < this.length) {
          const entries = this.packed ? unpack(this.packed) : this.entries;
          const batch = entries.slice(cursor);
          cursor += batch.length;
          yield batch;
        } else if (this.ended) {
          return;
        } else if (this.failure) {
          throw this.failure;
        } else {
          await new Promise<void>((resolve) => this.waiting.add(resolve));
        }
      }
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }

  private finish(state: 'ended' | 'sealed'): void {
    if (this.ended) return;
    this.state = state;
    this.wake();
    this.listener?.ended();
    // After the waiting readers have read the end: there are rarely others.
    setImmediate(() => {
      this.packed = pack(this.entries);
      this.entries = [];
    });
  }

  /** Readers continue when the writer waits for something, so that they get all that it wrote until then at once. */
  private wake(): void {
    if (this.wakeScheduled || this.waiting.size === 0) return;
    this.wakeScheduled = true;
    process.nextTick(() => {
      this.wakeScheduled = false;
      const resolves = [...this.waiting];
      this.waiting.clear();
      for (const resolve of resolves) resolve();
    });
  }
}

/** Separates parts of packed entries; JSON escapes it. */
const SEPARATOR = '\u001e';

function pack(entries: readonly RunLogEntry[]): Buffer {
  const text = entries.flatMap(({ tag, data }) => [tag, data]).join(SEPARATOR);
  // A part of the pool of `Buffer.from` would keep all of its 64 KiB for as long.
  const packed = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  packed.write(text);
  return packed;
}

function unpack(packed: Buffer): RunLogEntry[] {
  const parts = packed.toString().split(SEPARATOR);
  return Array.from({ length: parts.length / 2 }, (_, index) => ({
    ...{ number: index + 1, tag: parts[2 * index] ?? '', data: parts[2 * index + 1] ?? '' },
  }));
}
