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
const SHUTDOWN_MS = 30_000;

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
  const exit = (code: number) => {
    exits.push(code);
    signals.emit('exited');
  };
  stopOnSignals(app, { shutdownMs: SHUTDOWN_MS, clock, logger, server, signals, exit });
});

afterEach(async () => {
  agent.destroy();
  server.closeAllConnections();
  await app.close();
});

const request = (path: string) =>
  get({ host: '127.0.0.1', port: (server.address() as AddressInfo | null)?.port ?? 1, path, agent });

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

  it('is not ready while it drains', async () => {
    app.get(ShutdownState).begin();
    const { response, body } = await answerOf(request('/health/ready'));
    expect(response.statusCode).toBe(503);
    expect(JSON.parse(body)).toEqual({
      status: 'unavailable',
      checks: { database: 'ok', files: 'ok', process: 'stopping' },
    });
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
    await clock.pass(5_000);
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
