import type { ServerResponse } from 'node:http';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Clock } from '../clock/index.js';
import { TransientMap } from '../heap/index.js';
import { headersSetOn } from './response-headers.js';

/** A reader with more unread bytes than this is disconnected. */
export const UNREAD_LIMIT = 256 * 1024;
/** How long a reader may be over the limit, because a single event can be larger and needs time on the wire. */
const OVER_LIMIT_MS = 1_000;
/** The limit within that time, without the newest write. It bounds the memory of a stream. */
const UNREAD_CEILING = 4 * UNREAD_LIMIT;
/** How often the timer checks for silent streams, and for readers that have stopped reading. */
const CHECK_MS = 5_000;
/** A check sends a comment on a stream that has been silent for so long, so that no stream is silent for more than 15 s. */
const SILENT_MS = 2 * CHECK_MS;
/** A producer that waits for its reader continues below this; well under the limit, so that waiting never disconnects. */
const READY_BELOW = UNREAD_LIMIT / 4;
/** Checks without progress after which a reader that a producer waits for counts as disconnected. */
const MAX_CHECKS_WITHOUT_PROGRESS = 6;

/** The reason of the abort. To create the default reason costs more than all listeners together. */
const STREAM_OVER = new Error('The stream is over');

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

/**
 * One open `text/event-stream` response. Events that are sent in one round of the event loop leave in one write. Sending never
 * waits, so a slow reader does not slow down the sender.
 */
export class EventStream {
  private readonly abort = new AbortController();
  private pending = '';
  private flushScheduled = false;
  private ended = false;
  private waiting: (() => void)[] = [];
  private wroteAt: number;
  private drainedAtCheck = -1;
  private checksWithoutProgress = 0;
  private overLimitSince: number | undefined;
  private newestWrite = 0;

  constructor(
    private readonly raw: ServerResponse,
    private readonly clock: Clock,
  ) {
    this.wroteAt = clock.monotonic();
    raw.once('close', () => this.onClosed());
    raw.on('drain', () => this.release());
    // The headers leave with the first events, or without them if none are sent at once.
    this.scheduleFlush();
  }

  /** Aborted when the stream is over: all was sent, or the reader disconnected or was disconnected. */
  get closed(): AbortSignal {
    return this.abort.signal;
  }

  /** Bytes that this process has not yet passed to the socket. */
  get unread(): number {
    return Buffer.byteLength(this.pending) + this.raw.writableLength;
  }

  /** Sends one event, unless the stream is over. The client returns `id` as `Last-Event-ID`. */
  send(data: string, id?: number): void {
    const idLine = id === undefined ? '' : `id: ${id}\n`;
    // Every line of the data needs the field name; without it, the client would read the line as another field.
    const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/).join('\ndata: ') : data;
    this.write(`${idLine}data: ${lines}\n\n`);
  }

  /** Sends a comment of one line, which readers skip. */
  comment(text = ''): void {
    this.write(text === '' ? ':\n\n' : `: ${text}\n\n`);
  }

  /**
   * Resolves when the reader has read most of what was sent, or the stream is over. For senders that can wait, such as the replay
   * of a long log, whose speed must not get the reader disconnected.
   */
  ready(): Promise<void> {
    if (this.closed.aborted || this.unread < READY_BELOW) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Ends the stream after the events that were sent. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.raw.end(this.pending);
    this.pending = '';
  }

  /** Called at every interval: keeps proxies from closing a silent stream, and disconnects readers that have stopped reading. */
  check(): void {
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

  /** The producer, or the end of the stream, waits for a reader that has read nothing for several intervals. */
  private isStuck(): boolean {
    const drained = (this.raw.socket?.bytesWritten ?? 0) - (this.raw.socket?.writableLength ?? 0);
    const waited = this.raw.writableLength > 0 && (this.ended || this.waiting.length > 0);
    this.checksWithoutProgress = waited && drained === this.drainedAtCheck ? this.checksWithoutProgress + 1 : 0;
    this.drainedAtCheck = drained;
    return this.checksWithoutProgress >= MAX_CHECKS_WITHOUT_PROGRESS;
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

/** Opens event streams, and keeps all of them alive with one timer. */
@Injectable()
export class EventStreams implements OnModuleDestroy {
  private opened = 0;
  private readonly streams = new TransientMap<EventStream>();
  private stopTimer: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  get count(): number {
    return this.streams.size;
  }

  /** Sends the status 200 and the headers set on `reply` so far. Later errors can be reported only inside the stream. */
  open(reply: FastifyReply): EventStream {
    const { raw } = reply;
    reply.hijack();
    raw.writeHead(200, headersSetOn(reply.headers(STREAM_HEADERS)));
    const stream = new EventStream(raw, this.clock);
    const key = `stream-${(this.opened += 1)}`;
    this.streams.set(key, stream);
    raw.once('close', () => {
      this.streams.delete(key);
    });
    this.stopTimer ??= this.clock.every(CHECK_MS, () => this.checkAll());
    return stream;
  }

  onModuleDestroy(): void {
    this.stopTimer?.();
  }

  private checkAll(): void {
    for (const stream of this.streams.values()) stream.check();
  }
}
