import { EventEmitter, once } from 'node:events';
import { Agent, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Global, Module, type OnApplicationShutdown, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { until } from '../../../test/support/until.js';
import { Clock, SystemClock } from '../clock/index.js';
import { readSettings, Settings } from '../config/index.js';
import { type EventStream, EventStreams, HttpModule, PublicRoute } from '../http/index.js';
import { createHttpApp } from '../http/create-http-app.js';
import { createLogger, TelemetryModule } from '../telemetry/index.js';
import { ShutdownState } from './shutdown-state.js';
import { stopOnSignals } from './graceful-shutdown.js';

/** A clock whose deadlines a test triggers. */
class HandClock extends SystemClock {
  private readonly pending = new Map<() => void, number>();

  override sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  override after(ms: number, task: () => void): () => void {
    this.pending.set(task, ms);
    return () => this.pending.delete(task);
  }

  /** Waits until there is a timer of exactly `ms`, and fires it. */
  async pass(ms: number): Promise<void> {
    await until(() => [...this.pending.values()].includes(ms), `a timer of ${ms} ms`);
    for (const [task, wait] of this.pending) {
      if (wait !== ms) continue;
      this.pending.delete(task);
      task();
    }
  }
}

const settings = readSettings({ LOG_LEVEL: 'silent' }, { role: 'all', demo: false });
const logger = createLogger(settings);
const SHUTDOWN_MS = 25_000;
const DELAY_MS = 5_000;

let clock: HandClock;
let finishSlow: (() => void) | undefined;
let stream: EventStream | undefined;
let closed: boolean;

@Controller()
class WorkController implements OnApplicationShutdown {
  constructor(private readonly streams: EventStreams) {}

  @Get('slow')
  @PublicRoute()
  async slow(): Promise<object> {
    await new Promise<void>((resolve) => (finishSlow = resolve));
    return { done: true };
  }

  @Get('stream')
  @PublicRoute()
  stream(@Res() reply: FastifyReply): void {
    stream = this.streams.open(reply);
  }

  onApplicationShutdown(): void {
    closed = true;
  }
}

const clockProvider = { provide: Clock, useFactory: () => clock };

@Global()
@Module({ providers: [{ provide: Settings, useValue: settings }, clockProvider], exports: [Settings, Clock] })
class KernelModule {}

@Module({
  imports: [KernelModule, TelemetryModule.forRoot(settings, logger), HttpModule],
  controllers: [WorkController],
})
class RootModule {}

let app: NestFastifyApplication;
let server: Server;
let signals: EventEmitter;
let exits: number[];
let exited: Promise<unknown>;
let agent: Agent;

beforeEach(async () => {
  clock = new HandClock();
  closed = false;
  finishSlow = stream = undefined;
  app = await createHttpApp({ rootModule: RootModule, settings, logger });
  await app.listen(0, '127.0.0.1');
  server = app.getHttpServer();
  signals = new EventEmitter();
  exits = [];
  exited = once(signals, 'exited');
  agent = new Agent({ keepAlive: true });
  stopOnSignals(app, { ...options(signals), shutdownMs: SHUTDOWN_MS });
});

const options = (from: EventEmitter) => ({
  ...{ clock, logger, server, signals: from },
  exit: (code: number) => {
    exits.push(code);
    signals.emit('exited');
  },
});

afterEach(async () => {
  agent.destroy();
  server.closeAllConnections();
  await app.close();
});

const request = (path: string, by = agent) =>
  get({ host: '127.0.0.1', port: (server.address() as AddressInfo | null)?.port ?? 1, path, agent: by });

async function answerOf(pending: ReturnType<typeof request>): Promise<{ response: IncomingMessage; body: string }> {
  const [response] = (await once(pending, 'response')) as [IncomingMessage];
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { response, body };
}

describe('a process that receives a signal', () => {
  it.each(['SIGTERM', 'SIGINT'])('exits with 0 immediately if no work is active (%s)', async (signal) => {
    await answerOf(request('/health/live'));
    signals.emit(signal);
    await exited;
    expect([exits, closed]).toEqual([[0], true]);
  });

  it('accepts no more connections, and completes an active request', async () => {
    const slow = answerOf(request('/slow'));
    await until(() => finishSlow !== undefined, 'the slow request has begun');
    const { port } = server.address() as AddressInfo;
    signals.emit('SIGTERM');
    await expect(once(get({ host: '127.0.0.1', port, path: '/health/live' }), 'response')).rejects.toThrow(
      'ECONNREFUSED',
    );
    expect([exits, closed]).toEqual([[], false]);
    finishSlow?.();
    const { response, body } = await slow;
    expect(body).toBe('{"done":true}');
    expect(response.headers.connection).toBe('close');
    await exited;
    expect([exits, closed]).toEqual([[0], true]);
  });

  it('stops in the same way when it fails, and exits with 1', async () => {
    const slow = answerOf(request('/slow'));
    await until(() => finishSlow !== undefined, 'the slow request has begun');
    app.get(ShutdownState).fail('The database is newer');
    await until(() => app.get(ShutdownState).isStopping, 'it stops');
    expect([exits, closed]).toEqual([[], false]);
    finishSlow?.();
    expect((await slow).body).toBe('{"done":true}');
    await exited;
    expect([exits, closed]).toEqual([[1], true]);
  });

  it.each([
    ['a signal', 1, () => app.get(ShutdownState).fail('The database is newer'), () => signals.emit('SIGTERM')],
    ['a failure', 0, () => signals.emit('SIGTERM'), () => app.get(ShutdownState).fail('The database is newer')],
  ])('goes on with its stop at %s that comes meanwhile', async (_, code, first, second) => {
    const slow = answerOf(request('/slow'));
    await until(() => finishSlow !== undefined, 'the slow request has begun');
    first();
    await until(() => app.get(ShutdownState).isStopping, 'it stops');
    second();
    finishSlow?.();
    expect((await slow).body).toBe('{"done":true}');
    await exited;
    expect([exits, closed]).toEqual([[code], true]);
  });

  it('is not ready while it drains', async () => {
    app.get(ShutdownState).begin();
    const { response, body } = await answerOf(request('/health/ready'));
    expect(response.statusCode).toBe(503);
    expect(JSON.parse(body)).toEqual({
      status: 'unavailable',
      checks: { database: 'ok', files: 'ok', process: 'stopping' },
    });
  });

  it('serves new connections for the delay while it says that it stops, then refuses them, all within the same time', async () => {
    const delayed = new EventEmitter();
    stopOnSignals(app, { ...options(delayed), shutdownMs: SHUTDOWN_MS, delayMs: DELAY_MS });
    const fresh = new Agent();
    delayed.emit('SIGTERM');
    const ready = await answerOf(request('/health/ready', fresh));
    expect(ready.response.statusCode).toBe(503);
    expect(JSON.parse(ready.body)).toMatchObject({ checks: { process: 'stopping' } });
    const slow = answerOf(request('/slow', fresh));
    await until(() => finishSlow !== undefined, 'the slow request has begun');
    expect(app.get(ShutdownState).isStopping).toBe(false);
    const { port } = server.address() as AddressInfo;

    await clock.pass(DELAY_MS);
    await expect(once(get({ host: '127.0.0.1', port, path: '/health/live' }), 'response')).rejects.toThrow(
      'ECONNREFUSED',
    );
    slow.catch(() => undefined);
    await clock.pass(SHUTDOWN_MS - DELAY_MS);
    finishSlow?.();
    const { response } = await slow;
    expect(response.headers.connection).toBe('close');
    await exited;
    expect([exits, closed]).toEqual([[0], true]);
  });

  it('exits immediately at a second signal within the delay', () => {
    const delayed = new EventEmitter();
    stopOnSignals(app, { ...options(delayed), shutdownMs: SHUTDOWN_MS, delayMs: DELAY_MS });
    delayed.emit('SIGTERM');
    delayed.emit('SIGTERM');
    expect(exits).toEqual([1]);
  });

  it('aborts work that does not end, whose stream can be read to the end', async () => {
    const answer = answerOf(request('/stream'));
    await until(() => stream !== undefined, 'the stream is open');
    let aborted = 0;
    app.get(ShutdownState).register({
      name: 'runs',
      idle: () => Promise.resolve(),
      abort: async () => {
        aborted += 1;
        stream?.send('{"type":"RUN_ERROR","code":"server_shutdown"}');
        stream?.end();
      },
    });
    signals.emit('SIGTERM');
    stream?.send('still running');
    await clock.pass(SHUTDOWN_MS);
    const { body } = await answer;
    expect(body).toMatch(/still running[^]*server_shutdown/);
    await exited;
    expect([aborted, exits, closed]).toEqual([1, [0], true]);
  });

  it('closes the connections of work that cannot be aborted', async () => {
    const broken = answerOf(request('/stream'));
    broken.catch(() => undefined);
    await until(() => stream !== undefined, 'the stream is open');
    app.get(ShutdownState).register({
      name: 'stubborn',
      idle: () => new Promise(() => undefined),
      abort: () => Promise.reject(new Error('No')),
    });
    signals.emit('SIGTERM');
    await clock.pass(SHUTDOWN_MS);
    await clock.pass(2_500);
    await exited;
    await expect(broken).rejects.toThrow();
    expect([exits, closed]).toEqual([[0], true]);
  });

  it('exits immediately at a second signal', async () => {
    const slow = answerOf(request('/slow'));
    slow.catch(() => undefined);
    await until(() => finishSlow !== undefined, 'the slow request has begun');
    signals.emit('SIGTERM');
    signals.emit('SIGTERM');
    expect(exits).toEqual([1]);
  });
});
