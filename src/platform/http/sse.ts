import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock } from '../clock/index.js';
import { headersSetOn } from './response-headers.js';

/** A reader that leaves more than this many bytes unread is cut off. */
export const UNREAD_LIMIT = 256 * 1024;
/** How long it may do so: one event can be larger than the limit, and takes its time on the wire. */
const OVER_LIMIT_MS = 1_000;
/** What holds even within that time, apart from the newest write: a stream's share of the process's memory. */
const UNREAD_CEILING = 4 * UNREAD_LIMIT;
/** How often the timer looks for silent streams, and for readers that stopped reading. */
const LOOK_MS = 5_000;
/** A look sends a comment to a stream that has been silent for so long, so that no stream is silent for more than 15 s. */
const SILENT_MS = 2 * LOOK_MS;
/** A producer that waits for its reader goes on below this; well under the limit, so that waiting never cuts. */
const READY_BELOW = UNREAD_LIMIT / 4;
/** Looks without progress after which a reader that is being waited for counts as gone. */
const LOOKS_WITHOUT_PROGRESS = 6;

/** Given as the reason, since making the default one costs more than all listeners together. */
const STREAM_OVER = new Error('The stream is over');

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/**
 * One open `text/event-stream` answer. Events sent in one turn of the event loop leave in one write;
 * nothing here waits, so a slow reader never slows the sender.
 */
export class EventStream {
  private readonly abort = new AbortController();
  private pending = '';
  private flushScheduled = false;
  private ended = false;
  private waiting: (() => void)[] = [];
  private wroteAt: number;
  private drainedAtLook = -1;
  private looksWithoutProgress = 0;
  private overLimitSince: number | undefined;
  private newestWrite = 0;

  constructor(
    private readonly raw: ServerResponse,
    private readonly clock: Clock,
  ) {
    this.wroteAt = clock.monotonic();
    raw.once('close', () => this.onClosed());
    raw.on('drain', () => this.release());
    // The headers leave with the first events, or by themselves where none come at once.
    this.scheduleFlush();
  }

  /** Aborted when the stream is over: ended and sent, or the reader left or was cut off. */
  get closed(): AbortSignal {
    return this.abort.signal;
  }

  /** Bytes that the reader has not taken yet, as far as this process can see. */
  get unread(): number {
    return Buffer.byteLength(this.pending) + this.raw.writableLength;
  }

  /** Sends one event; `id` comes back from the client as `Last-Event-ID`. Ignored once the stream is over. */
  send(data: string, id?: number): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    // Each line of the data needs the field name, or the rest would be read as other fields.
    const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data;
    this.write(`${idLine}data: ${lines}\n\n`);
  }

  /** Sends a comment, which readers skip. */
  comment(): void {
    this.write(':\n\n');
  }

  /**
   * Resolves when the reader has taken most of what was sent, or the stream is over. For senders that
   * can wait, such as the replay of a long log: it is not the reader's fault that they are fast.
   */
  ready(): Promise<void> {
    if (this.closed.aborted || this.unread < READY_BELOW) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Ends the stream after what was sent. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.raw.end(this.pending);
    this.pending = '';
  }

  /** Called at every interval: keeps proxies from closing a silent stream, finds readers that stopped reading. */
  look(): void {
    if (this.closed.aborted) return;
    if (this.isStuck()) {
      this.raw.destroy();
      return;
    }
    if (this.clock.monotonic() - this.wroteAt >= SILENT_MS) this.comment();
  }

  private write(text: string): void {
    if (this.ended || this.closed.aborted) return;
    this.pending += text;
    this.wroteAt = this.clock.monotonic();
    this.scheduleFlush();
  }

  private scheduleFlush(): void {
    if (this.flushScheduled) return;
    this.flushScheduled = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.flushScheduled = false;
    if (this.ended || this.closed.aborted) return;
    if (this.pending === '') {
      this.raw.flushHeaders();
      return;
    }
    if (this.leavesTooMuchUnread()) {
      this.raw.destroy();
      return;
    }
    const before = this.raw.writableLength;
    const taken = this.raw.write(this.pending);
    this.newestWrite = this.raw.writableLength - before;
    this.pending = '';
    if (taken) this.release();
  }

  private leavesTooMuchUnread(): boolean {
    const unread = this.raw.writableLength;
    if (unread <= UNREAD_LIMIT) {
      this.overLimitSince = undefined;
      return false;
    }
    const now = this.clock.monotonic();
    this.overLimitSince ??= now;
    return now - this.overLimitSince > OVER_LIMIT_MS || unread - this.newestWrite > UNREAD_CEILING;
  }

  /** Somebody waits for the reader (the end of the stream does, too), who has taken nothing for some intervals. */
  private isStuck(): boolean {
    const drained = (this.raw.socket?.bytesWritten ?? 0) - (this.raw.socket?.writableLength ?? 0);
    const waited = this.raw.writableLength > 0 && (this.ended || this.waiting.length > 0);
    this.looksWithoutProgress = waited && drained === this.drainedAtLook ? this.looksWithoutProgress + 1 : 0;
    this.drainedAtLook = drained;
    return this.looksWithoutProgress >= LOOKS_WITHOUT_PROGRESS;
  }

  private release(): void {
    if (this.raw.writableLength >= READY_BELOW) return;
    for (const resolve of this.waiting.splice(0)) resolve();
  }

  private onClosed(): void {
    this.pending = '';
    this.abort.abort(STREAM_OVER);
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

/** Opens event streams and keeps all of them alive with one timer. */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private readonly streams = new Set<EventStream>();
  private stopTimer: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  /** Streams that are open now. */
  get count(): number {
    return this.streams.size;
  }

  /**
   * Answers 200 and hands the response over to the stream. Headers set on `reply` before are sent along;
   * from here on errors can only be told inside the stream.
   */
  open(reply: FastifyReply): EventStream {
    const { raw } = reply;
    reply.hijack();
    raw.writeHead(200, headersSetOn(reply.headers(STREAM_HEADERS)));
    const stream = new EventStream(raw, this.clock);
    this.streams.add(stream);
    raw.once('close', () => this.streams.delete(stream));
    this.stopTimer ??= this.clock.every(LOOK_MS, () => this.look());
    return stream;
  }

  onModuleDestroy(): void {
    this.stopTimer?.();
  }

  private look(): void {
    for (const stream of this.streams) stream.look();
  }
}
