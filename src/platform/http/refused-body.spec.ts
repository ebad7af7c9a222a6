import { connect, type AddressInfo } from 'node:net';
import { Global, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NotesController } from '../../../test/support/notes.controller.js';
import { until } from '../../../test/support/until.js';
import { Clock, SystemClock } from '../clock/index.js';
import { readSettings, Settings } from '../config/index.js';
import { createLogger, TelemetryModule } from '../telemetry/index.js';
import { createHttpApp } from './create-http-app.js';
import { HttpModule } from './http.module.js';

/** The system clock, except that a test decides when the time limit for a refused body is over. */
class TestClock extends SystemClock {
  private readonly draining = new Set<() => void>();

  override after(ms: number, task: () => void): () => void {
    if (ms !== DRAINED_MS) return super.after(ms, task);
    this.draining.add(task);
    return () => this.draining.delete(task);
  }

  get drains(): number {
    return this.draining.size;
  }

  endDrains(): void {
    for (const task of this.draining) task();
  }
}

const DRAINED_MS = 10_000;
const clock = new TestClock();

const settings = readSettings({ LOG_LEVEL: 'silent' }, { role: 'all', demo: false });
const logger = createLogger(settings);
const providers = [
  { provide: Settings, useValue: settings },
  { provide: Clock, useValue: clock },
];

@Global()
@Module({ providers, exports: [Settings, Clock] })
class KernelModule {}

@Module({
  imports: [KernelModule, TelemetryModule.forRoot(settings, logger), HttpModule],
  controllers: [NotesController],
})
class RootModule {}

let app: NestFastifyApplication;
beforeAll(async () => {
  app = await createHttpApp({ rootModule: RootModule, settings, logger });
  await app.listen(0, '127.0.0.1');
});
afterAll(() => app.close());

describe('a body above its limit', () => {
  const head = (more: string): string =>
    `POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
  const MIB = Buffer.alloc(1024 * 1024, 'x');
  const CHUNK = Buffer.concat([Buffer.from(`${MIB.length.toString(16)}\r\n`), MIB, Buffer.from('\r\n')]);

  /** A client on a socket of its own. */
  function open(): {
    write: (data: string | Buffer) => Promise<void>;
    answer: () => string;
    ended: Promise<string>;
    end: () => void;
  } {
    const socket = connect((app.getHttpServer().address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    const ended = new Promise<string>((resolve) => {
      socket.once('error', ({ message }) => resolve(message));
      socket.once('close', () => resolve('closed'));
    });
    const write = (data: string | Buffer): Promise<void> =>
      new Promise((resolve, reject) => void socket.write(data, (error) => (error ? reject(error) : resolve())));
    return { write, answer: () => answer, ended, end: () => void socket.end() };
  }

  it.each([
    ['with its length', `Content-Length: ${60 * MIB.length}`, MIB, ''],
    ['in chunks', 'Transfer-Encoding: chunked', CHUNK, '0\r\n\r\n'],
    ['by a client that closes', `Content-Length: ${60 * MIB.length}\r\nConnection: close`, MIB, ''],
    ['by a client that asks first', `Content-Length: ${60 * MIB.length}\r\nExpect: 100-continue`, MIB, ''],
  ])(
    'is read to its end and discarded, sent %s, so that a client that writes all of it first can read the 413',
    async (_how, headers, part, last) => {
      const client = open();
      await client.write(head(headers));
      for (let sent = 0; sent < 60; sent += 1) await client.write(part);
      if (last !== '') await client.write(last);
      client.end();
      expect(await client.ended).toBe('closed');
      const answer = client.answer().replace('HTTP/1.1 100 Continue\r\n\r\n', '');
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain('FST_ERR_CTP_BODY_TOO_LARGE');
      expect(clock.drains).toBe(0);
    },
  );

  it('is answered at once, before the client has sent any of it', async () => {
    const client = open();
    await client.write(head(`Content-Length: ${60 * MIB.length}`));
    await until(() => client.answer().endsWith('}'), 'the answer is whole');
    expect(client.answer()).toMatch(/^HTTP\/1\.1 413 /);
    client.end();
    await client.ended;
  });

  it('is cut off after 64 MiB, and after ten seconds', async () => {
    const [large, slow] = [open(), open()];
    await slow.write(head(`Content-Length: ${60 * MIB.length}`));
    await until(() => clock.drains === 1, 'the answer is held open');
    clock.endDrains();
    await slow.ended;
    await large.write(head('Transfer-Encoding: chunked'));
    let sent = 0;
    const forever = async (): Promise<void> => {
      for (; ; sent += 1) await large.write(CHUNK);
    };
    await expect(forever()).rejects.toThrow(/^write /);
    expect(sent).toBeGreaterThanOrEqual(64);
    // The client may see the reset before the service does.
    await until(() => clock.drains === 0, 'the service has stopped reading');
  });
});
