import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Controller, Get, Global, Module, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { until as untilTrue } from '../../../test/support/until.js';
import { Clock, SystemClock } from '../clock/index.js';
import { readSettings, Settings } from '../config/index.js';
import { createLogger, TelemetryModule } from '../telemetry/index.js';
import { createHttpApp } from './create-http-app.js';
import { HttpModule } from './http.module.js';
import { OpenRequests } from './open-requests.js';
import { type EventStream, EventStreams, UNREAD_LIMIT } from './sse.js';

/** Repeating tasks run, and time passes, only when a test calls for it. */
class HandClock extends SystemClock {
  readonly tasks: { readonly ms: number; readonly run: () => void }[] = [];
  private passed = 0;

  override now(): Date {
    return new Date(this.passed);
  }

  override monotonic(): number {
    return this.passed;
  }

  override every(ms: number, run: () => void): () => void {
    this.tasks.push({ ms, run });
    return () => undefined;
  }

  advance(ms: number): void {
    this.passed += ms;
    for (const task of this.tasks) if (task.ms === ms) task.run();
  }
}

const clock = new HandClock();
const settings = readSettings({ LOG_LEVEL: 'silent' }, { role: 'all', demo: false });
let newest: EventStream | undefined;

@Controller('stream')
class StreamController {
  constructor(private readonly streams: EventStreams) {}

  @Get()
  open(@Res() reply: FastifyReply): void {
    void reply.header('x-thread-id', 'thread-1');
    newest = this.streams.open(reply);
  }
}

@Global()
@Module({
  providers: [
    { provide: Settings, useValue: settings },
    { provide: Clock, useValue: clock },
  ],
  exports: [Settings, Clock],
})
class KernelModule {}

const logger = createLogger(settings);

@Module({
  imports: [KernelModule, TelemetryModule.forRoot(settings, logger), HttpModule],
  controllers: [StreamController],
})
class RootModule {}

let app: NestFastifyApplication;
/** A reader that has stopped reading does not see the end, so the tests end its connection. */
const responses: IncomingMessage[] = [];

beforeAll(async () => {
  app = await createHttpApp({ rootModule: RootModule, settings, logger });
  await app.listen(0, '127.0.0.1');
});

afterAll(async () => {
  for (const response of responses) response.destroy();
  app.getHttpServer().closeAllConnections();
  await app.close();
});

interface Reader {
  readonly stream: EventStream;
  readonly response: IncomingMessage;
  readonly socket: Socket;
  readonly ended: Promise<unknown>;
  /** Resolves with everything read once it contains `text`. */
  readonly until: (text: string) => Promise<string>;
}

async function open(): Promise<Reader> {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const request = get({ host: '127.0.0.1', port, path: '/stream', agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  responses.push(response);
  const stream = newest;
  if (!stream) throw new Error('No stream was opened');
  let read = '';
  const ended = once(response, 'end');
  ended.catch(() => undefined);
  response.on('data', (chunk: Buffer) => {
    read += chunk.toString();
  });
  return {
    stream,
    response,
    socket: response.socket,
    ended,
    until: async (text) => {
      await untilTrue(() => read.includes(text), `the reader has read ${text}`);
      return read;
    },
  };
}

const overAndDone = (stream: EventStream) =>
  stream.closed.aborted
    ? Promise.resolve()
    : new Promise((resolve) => stream.closed.addEventListener('abort', resolve));

describe('an event stream', () => {
  it('sends its own headers and those set before at once', async () => {
    const { response, stream } = await open();
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-thread-id': 'thread-1',
      'access-control-allow-origin': '*',
      'x-request-id': expect.stringMatching(/./),
    });
    stream.end();
  });

  it('sends events with their ids, in order, and ends after the last', async () => {
    const { stream, until, ended } = await open();
    stream.send('{"a":1}', 1);
    stream.send('two\nlines');
    stream.send('{"a":3}', 3);
    stream.end();
    stream.send('too late');
    const text = await until('{"a":3}\n\n');
    expect(text).toBe('id: 1\ndata: {"a":1}\n\ndata: two\ndata: lines\n\nid: 3\ndata: {"a":3}\n\n');
    await ended;
    await overAndDone(stream);
  });

  it('sends the events of one round of the event loop in one write', async () => {
    const { stream, response, until } = await open();
    // The HTTP parser hands on each chunk of the answer by itself: one write is one chunk.
    let chunks = 0;
    response.on('data', () => (chunks += 1));
    for (let id = 1; id <= 100; id += 1) stream.send('{"delta":"x"}', id);
    await until('id: 100\n');
    expect(chunks).toBe(1);
    stream.end();
  });

  it('aborts its signal when the reader disconnects', async () => {
    const { stream, socket } = await open();
    expect(stream.closed.aborted).toBe(false);
    socket.destroy();
    await overAndDone(stream);
    stream.send('to no reader');
    await stream.ready();
  });

  it('is never silent for more than 15 s, with one timer for all streams', async () => {
    const [first, second] = [await open(), await open()];
    expect(clock.tasks.filter(({ ms }) => ms === 5_000)).toHaveLength(1);
    first.stream.send('one');
    await first.until('data: one\n\n');
    for (let look = 0; look < 3; look += 1) clock.advance(5_000);
    expect(await first.until(':\n\n')).toBe('data: one\n\n:\n\n');
    expect(await second.until(':\n\n')).toBe(':\n\n');
    first.stream.end();
    second.stream.end();
  });

  it('sends no comment while there are events', async () => {
    const { stream, until } = await open();
    for (let look = 0; look < 9; look += 1) {
      stream.send('on');
      clock.advance(5_000);
    }
    stream.send('over');
    expect(await until('over')).not.toContain(':\n\n');
    stream.end();
  });

  it('disconnects a reader with more than 256 KiB unread', async () => {
    const { stream, response } = await open();
    response.pause();
    const event = 'x'.repeat(16 * 1024);
    let most = 0;
    const sendMore = (): boolean => {
      stream.send(event);
      most = Math.max(most, stream.unread);
      if (stream.unread > UNREAD_LIMIT) clock.advance(600);
      return stream.closed.aborted;
    };
    await untilTrue(sendMore, 'the reader is cut off', { everyMs: 0 });
    expect(most).toBeGreaterThan(UNREAD_LIMIT);
    expect(most).toBeLessThan(2 * UNREAD_LIMIT);
  });

  it('does not disconnect a reader for one event larger than the limit', async () => {
    const { stream, response, until } = await open();
    // Not read for a moment, and more than the kernel's buffers hold.
    response.pause();
    stream.send('y'.repeat(16 * 1024 * 1024));
    await new Promise((resolve) => setImmediate(resolve));
    expect(stream.unread).toBeGreaterThan(UNREAD_LIMIT);
    stream.send('after');
    response.resume();
    await until('after');
    stream.end();
  });

  it('lets a sender wait for its reader, and disconnects a reader that has stopped reading', async () => {
    const { stream, response } = await open();
    const event = 'z'.repeat(64 * 1024);
    for (let sent = 0; sent < 200; sent += 1) {
      stream.send(event);
      await stream.ready();
    }
    expect(stream.closed.aborted).toBe(false);
    response.pause();
    const filling = (async () => {
      while (!stream.closed.aborted) {
        stream.send(event);
        await stream.ready();
      }
    })();
    const look = (): boolean => {
      clock.advance(5_000);
      return stream.closed.aborted;
    };
    await untilTrue(look, 'the reader is given up', { everyMs: 0 });
    await filling;
    expect(stream.unread).toBeLessThan(UNREAD_LIMIT);
  });

  it('is counted while it is open', async () => {
    const streams = app.get(EventStreams);
    const requests = app.get(OpenRequests);
    await requests.idle();
    const reader = await open();
    expect([streams.count, requests.count]).toEqual([1, 1]);
    reader.stream.end();
    await requests.idle();
    expect([streams.count, requests.count]).toEqual([0, 0]);
  });
});
