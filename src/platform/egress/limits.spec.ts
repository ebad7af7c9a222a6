import type { RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { failure, PUBLIC, REQUEST, ScriptedResolver, useEgressBench } from '../../../test/support/egress-bench.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { until } from '../../../test/support/until.js';
import type { Dial } from './index.js';

const bench = useEgressBench();

describe('a body', () => {
  const text = 'Grüße '.repeat(2_000);
  const codings: [string, Buffer][] = [
    ['gzip', gzipSync(text)],
    ['x-gzip', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['zstd', zstdCompressSync(text)],
    ['GZIP ', gzipSync(text)],
    ['identity', Buffer.from(text)],
  ];

  const answerWith = (content: Buffer, coding?: string): void => {
    bench.canary.respond((_request, response) => {
      response.writeHead(200, coding === undefined ? {} : { 'content-encoding': coding }).end(content);
    });
  };

  it.each(codings)('is decompressed (%s)', async (coding, content) => {
    answerWith(content, coding);
    const answer = await bench.toCanary().request(bench.canary.url, REQUEST);
    expect(await answer.body.text()).toBe(text);
    expect(bench.canary.requests.at(-1)?.headers['accept-encoding']).toBe('gzip, deflate, br, zstd');
  });

  const bomb = Buffer.alloc(64 * 1024 * 1024);
  const bombs: [string, Buffer][] = [
    ['gzip', gzipSync(bomb)],
    ['deflate', deflateSync(bomb)],
    ['br', brotliCompressSync(bomb)],
    ['zstd', zstdCompressSync(bomb)],
  ];

  it.each(bombs)('is counted after decompression: a bomb is cut off (%s)', async (coding, content) => {
    expect(content.length).toBeLessThan(REQUEST.maxBytes);
    answerWith(content, coding);
    const answer = await bench.toCanary().request(bench.canary.url, REQUEST);
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of answer.body) received += chunk.length;
    };
    expect(await failure(read())).toMatchObject({ reason: 'too_large' });
    expect(received).toBeLessThanOrEqual(REQUEST.maxBytes);
  });

  it('of exactly the limit is read, and one byte more is refused, with and without a declared length', async () => {
    for (const declared of [true, false]) {
      const send = (size: number): void =>
        bench.canary.respond((_request, response) => {
          if (declared) response.writeHead(200, { 'content-length': size });
          response.write(Buffer.alloc(size - 1));
          response.end('x');
        });
      send(1_000);
      const whole = await bench.toCanary().request(bench.canary.url, { ...REQUEST, maxBytes: 1_000 });
      expect((await whole.body.buffer()).length).toBe(1_000);
      send(1_001);
      const more = await bench.toCanary().request(bench.canary.url, { ...REQUEST, maxBytes: 1_000 });
      expect(await failure(more.body.buffer())).toMatchObject({ reason: 'too_large' });
    }
  });

  it('without an end is aborted, also if it decompresses to nothing', async () => {
    const endless =
      (chunk: Buffer, headers: Record<string, string>): RequestListener =>
      (_request, response) => {
        response.writeHead(200, headers);
        pump(response, chunk);
      };
    bench.canary.respond(endless(Buffer.alloc(65_536), {}));
    const plain = await bench.toCanary().request(bench.canary.url, REQUEST);
    expect(await failure(plain.body.buffer())).toMatchObject({ reason: 'too_large' });
    const nothing = Buffer.concat(Array.from({ length: 4_096 }, () => gzipSync('')));
    bench.canary.respond(endless(nothing, { 'content-encoding': 'gzip' }));
    const empty = await bench.toCanary().request(bench.canary.url, REQUEST);
    expect(await failure(empty.body.buffer())).toMatchObject({ reason: 'too_large' });
  });

  it.each([
    ['gzip', Buffer.from('this is no gzip')],
    ['gzip', gzipSync(text).subarray(0, -9)],
    ['br', Buffer.from('neither is this brotli at all')],
    ['gzip, gzip', gzipSync(gzipSync(text))],
    ['compress', Buffer.from('x')],
    ['constructor', Buffer.from('x')],
  ])('with a wrong coding fails (%s)', async (coding, content) => {
    answerWith(content, coding);
    const answer = await bench.toCanary().request(bench.canary.url, REQUEST);
    expect(await failure(answer.body.buffer())).toMatchObject({ reason: 'protocol', kind: 'bad_gateway' });
  });

  it('that is incomplete fails', async () => {
    bench.canary.respond((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    const answer = await bench.toCanary().request(bench.canary.url, REQUEST);
    expect(await failure(answer.body.buffer())).toMatchObject({ reason: 'protocol' });
  });
});

describe('time', () => {
  const silent: RequestListener = () => undefined;
  const stalling: RequestListener = (_request, response) => {
    response.writeHead(200);
    response.write('half');
  };

  it('is limited while the server is silent, for the headers and for the whole request', async () => {
    for (const limits of [{ timeoutMs: 500 }, { timeoutMs: 60_000, headersTimeoutMs: 500 }]) {
      const clock = new ManualClock();
      bench.canary.respond(silent);
      const before = bench.canary.requests.length;
      const failed = failure(bench.toCanary({ clock }).request(bench.canary.url, { ...REQUEST, ...limits }));
      await until(() => bench.canary.requests.length > before, 'the request to arrive');
      await clock.advance(499);
      await clock.advance(1);
      expect(await failed).toMatchObject({ reason: 'timeout', kind: 'gateway_timeout' });
    }
  });

  it('is limited for a body that stalls, even if it is not read', async () => {
    const clock = new ManualClock();
    bench.canary.respond(stalling);
    const answer = await bench.toCanary({ clock }).request(bench.canary.url, { ...REQUEST, timeoutMs: 500 });
    const failed = failure(answer.body.buffer());
    await clock.advance(500);
    expect(await failed).toMatchObject({ reason: 'timeout' });
    let gone = false;
    bench.canary.respond((request, response) => {
      stalling(request, response);
      request.socket.once('close', () => {
        gone = true;
      });
    });
    await bench.toCanary({ clock }).request(bench.canary.url, { ...REQUEST, timeoutMs: 500 });
    await clock.advance(500);
    await until(() => gone, 'the connection to be closed');
  });

  it('is limited while the name is resolved and while the connection is opened', async () => {
    const clock = new ManualClock();
    const never = new ScriptedResolver(() => [PUBLIC]);
    never.resolvePublic = () => new Promise(() => undefined);
    const unresolved = failure(
      bench.client({ clock, resolver: never }).request('http://slow.example/', { ...REQUEST, timeoutMs: 60_000 }),
    );
    await clock.untilPending(3);
    await clock.advance(10_000);
    expect(await unresolved).toMatchObject({ reason: 'timeout' });
    let dialled: Socket | undefined;
    const dial: Dial = () => (dialled = new Socket());
    const resolver = new ScriptedResolver(() => [PUBLIC]);
    const unconnected = failure(
      bench.client({ clock, resolver, dial }).request('http://slow.example/', { ...REQUEST, timeoutMs: 60_000 }),
    );
    await until(() => dialled !== undefined, 'the connection to be dialled');
    await clock.advance(10_000);
    expect(await unconnected).toMatchObject({ reason: 'timeout' });
    expect(dialled?.destroyed).toBe(true);
  });

  it("ends with the caller's reason, without a remaining timer", async () => {
    const clock = new ManualClock();
    bench.canary.respond(silent);
    const reason = new Error('the run was cancelled');
    const controller = new AbortController();
    const before = bench.canary.requests.length;
    const failed = failure(
      bench.toCanary({ clock }).request(bench.canary.url, { ...REQUEST, signal: controller.signal }),
    );
    await until(() => bench.canary.requests.length > before, 'the request to arrive');
    controller.abort(reason);
    expect(await failed).toBe(reason);
    bench.canary.respond((_request, response) => response.end('x'));
    const answer = await bench.toCanary({ clock }).request(bench.canary.url, REQUEST);
    await answer.body.buffer();
    expect(clock.pending()).toBe(0);
    expect(
      await failure(bench.toCanary().request(bench.canary.url, { ...REQUEST, signal: AbortSignal.abort(reason) })),
    ).toBe(reason);
  });
});

function pump(response: ServerResponse, chunk: Buffer): void {
  response.write(chunk, (error) => {
    if (!error && !response.destroyed) setImmediate(pump, response, chunk);
  });
}
