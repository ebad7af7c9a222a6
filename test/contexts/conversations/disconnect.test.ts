import { connect, type Socket } from 'node:net';
import { describe, expect, it, jest } from '@jest/globals';
import { EventStreams } from '../../../src/platform/http/index.js';
import { message, type StreamedEvent, useService, until } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { HeldReply, says } from '../../support/scripted-models.js';
import { Talk, textOf } from '../../support/talk.js';

const service = useService();

function settled(talk: Talk, status: string): Promise<void> {
  return until(async () => (await talk.storedRun())?.status === status, `the run is ${status}`);
}

/** Opens a stream and disconnects after the first text. */
async function leaveStream(talk: Talk, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  for await (const { event } of talk.stream('Hi', more)) if (event.type === 'TEXT_MESSAGE_CONTENT') break;
}

/** Waits for a reply and disconnects after the model was called. */
async function leaveWaiting(talk: Talk, held: HeldReply, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const leaving = new AbortController();
  const options = { key: talk.key, body: message('Hi', more), signal: leaving.signal };
  const waiting = service.fetch('POST', `${talk.path}/runs`, options).catch(() => undefined);
  await held.asked;
  await untilRead(talk, 'Half an');
  leaving.abort();
  await waiting;
}

/** Waits until the run has the text, which may still be on its way from the model. */
async function untilRead(talk: Talk, text: string): Promise<void> {
  const rejoin = { runId: (await talk.storedRun())?.id };
  const events: StreamedEvent[] = [];
  for await (const event of service.stream(`${talk.path}/runs/stream`, { key: talk.key, body: { rejoin } })) {
    events.push(event);
    if (textOf(events) === text) return;
  }
  throw new Error(`The run has ended with ${textOf(events)}`);
}

describe('a caller that disconnects', () => {
  it.each([
    ['a stream', (talk: Talk) => leaveStream(talk)],
    ['a stream, said to continue,', (talk: Talk) => leaveStream(talk, { onDisconnect: 'continue' })],
    ['the waiting route', (talk: Talk, held: HeldReply) => leaveWaiting(talk, held)],
  ])('%s does not end the run: its reply is stored', async (_what, leave) => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half an'], [' answer']);
    service.models.next(held.script);
    await leave(talk, held);
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    held.finish();
    await settled(talk, 'completed');
    expect(await talk.lines()).toEqual(['user: Hi', 'assistant: Half an answer']);
  });

  describe.each(AGENT_WIRES)('with onDisconnect cancel, on $provider,', ({ provider, model }) => {
    it.each([
      ['a stream', (talk: Talk) => leaveStream(talk, { onDisconnect: 'cancel' })],
      ['the waiting route', (talk: Talk, held: HeldReply) => leaveWaiting(talk, held, { onDisconnect: 'cancel' })],
    ])("%s cancels the run: the provider's socket is closed, the text so far kept", async (_what, leave) => {
      const talk = await Talk.start(service, { provider: { type: provider, model } });
      const held = new HeldReply(['Half an'], [' answer']);
      service.models.next(held.script);
      await leave(talk, held);
      await (
        await held.asked
      ).disconnected;
      await settled(talk, 'cancelled');
      expect((await talk.messages())[1]).toMatchObject({ content: 'Half an', status: 'incomplete' });
      expect(await talk.trace()).toMatchObject({ status: 'cancelled', usage: { totalTokens: null } });
      held.finish();
      service.models.next(says('Back'));
      expect(await talk.run('Again')).toMatchObject({ status: 200 });
    });
  });

  it('after the end cancels nothing', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('Hello'));
    for await (const { event } of talk.stream('Hi', { onDisconnect: 'cancel' }))
      if (event.type === 'RUN_FINISHED') break;
    expect(await talk.storedRun()).toMatchObject({ status: 'completed' });
  });
});

describe('a reader that stops reading', () => {
  /** Far more than the kernel's buffers hold. */
  const PARTS = 96;
  const PART = 'x'.repeat(128 * 1024);

  function openWithoutReading(talk: Talk): Socket {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify(message('Hi'));
    socket.write(
      `POST ${talk.path}/runs/stream HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${talk.key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    socket.on('error', () => undefined);
    socket.pause();
    return socket;
  }

  it('is disconnected while the run continues; the whole reply is stored', async () => {
    const talk = await Talk.start(service);
    const streams = service.app.get(EventStreams);
    const opened = jest.spyOn(streams, 'open');
    let cut = false;
    service.models.next(async (exchange, wire) => {
      const frames = wire.text(Array.from({ length: PARTS }, () => PART));
      for (const frame of frames.slice(0, -3)) await exchange.send(frame);
      // The run does not wait for its reader.
      await until(() => opened.mock.calls.length > 0, 'the reader is there');
      await until(() => streams.count === 0, 'the reader is cut off');
      cut = (await talk.storedRun())?.status === 'running';
      await exchange.sendAll(frames.slice(-3));
    });
    const socket = openWithoutReading(talk);
    await settled(talk, 'completed');
    socket.destroy();
    opened.mockRestore();

    expect(cut).toBe(true);
    expect((await talk.messages()).at(-1)?.content.length).toBe(PARTS * PART.length);
  });
});
