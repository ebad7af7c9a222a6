import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { PersistRun } from '../../../src/conversations/engine/persist-run.js';
import { AttachmentMemory, memoryOf, type MemoryReservation } from '../../../src/files/index.js';
import { ATTACHMENT_MEMORY_BYTES } from '../../../src/files/limits.js';
import { FileStore } from '../../../src/platform/files/index.js';
import { Canary } from '../../support/canary.js';
import { filePart, PDF, upload } from '../../support/files.js';
import { type Answer, startService, type TestService, until } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, HeldReply, refuses, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

const MIB = 1024 * 1024;
const LARGE = Buffer.concat([PDF, Buffer.alloc(MIB)]);
const TYPE = 'application/pdf';

let service: TestService;
let site: Canary;
let memory: AttachmentMemory;
/** The memory that the tests have reserved, so that small files fill the rest. */
let taken: MemoryReservation;

beforeAll(async () => {
  site = await Canary.start();
  service = await startService({ extensions: scriptedRuns, environment: { EGRESS_ALLOW: `127.0.0.1:${site.port}` } });
  memory = service.app.get(AttachmentMemory, { strict: false });
});
afterAll(async () => {
  await service.close();
  await site.close();
});
beforeEach(() => {
  service.models.reset();
  service.models.always(says('Seen.'));
  site.respond((_request, response) => response.end(LARGE));
  taken = memory.reserve();
});
afterEach(async () => {
  taken.release();
  await until(() => memory.bytes === 0, 'the end of all that holds attachments');
  jest.restoreAllMocks();
});

/** Reserves all memory but so many bytes. */
function leave(bytes: number): void {
  taken.demand(ATTACHMENT_MEMORY_BYTES - memory.bytes - bytes);
}

interface Attachment {
  readonly name: string;
  readonly url: string;
  readonly contentType: string;
}

const elsewhere = (): Attachment => ({ name: 'a.pdf', url: site.url, contentType: TYPE });
const inItself = (): Attachment => ({
  name: 'a.pdf',
  url: `data:${TYPE};base64,${LARGE.toString('base64')}`,
  contentType: TYPE,
});

async function uploaded(talk: Talk): Promise<Attachment> {
  const { body } = await upload(service, talk.key, filePart(LARGE, TYPE, 'a.pdf'));
  return { name: 'a.pdf', url: body.url, contentType: TYPE };
}

function send(
  talk: Talk,
  attachments: readonly Attachment[],
  text = 'Look',
  signal?: AbortSignal,
): Promise<Answer<object>> {
  const body = { message: { role: 'user', content: text, attachments } };
  return service.http('POST', `${talk.path}/runs`, { key: talk.key, body, ...(signal && { signal }) });
}

async function expectNothingStored(talk: Talk): Promise<void> {
  expect(await talk.messages()).toEqual([]);
  expect(await talk.storedRun()).toBeUndefined();
}

const FULL = {
  status: 503,
  body: {
    statusCode: 503,
    error: 'service_unavailable',
    message: 'The service has no memory for more attachments at the moment. Send the message again in a few seconds.',
  },
};

describe('when the runs under way have used the memory for attachments', () => {
  it('a message with an attachment is 503 with Retry-After and stores nothing, until a run ends', async () => {
    const talks = [await Talk.start(service), await Talk.start(service), await Talk.start(service)] as const;
    const files = await Promise.all(talks.map(uploaded));
    const held = [new HeldReply(['One']), new HeldReply(['Two'])] as const;
    service.models.next(held[0].script, held[1].script);
    leave(2 * memoryOf(LARGE.length));
    const first = send(talks[0], files.slice(0, 1));
    await held[0].asked;
    const second = send(talks[1], files.slice(1, 2));
    await held[1].asked;

    const refused = await send(talks[2], files.slice(2));

    expect(refused).toMatchObject(FULL);
    expect(refused.headers.get('retry-after')).toBe('5');
    await expectNothingStored(talks[2]);
    expect((await talks[2].run('Without')).status).toBe(200);

    held[0].finish();
    expect((await first).status).toBe(200);
    expect((await send(talks[2], files.slice(2))).status).toBe(200);
    held[1].finish();
    expect((await second).status).toBe(200);
  });

  it.each([
    ['an upload is not read', uploaded],
    ['a data URL is not decoded', () => Promise.resolve(inItself())],
    ['a file elsewhere is given up', () => Promise.resolve(elsewhere())],
  ])('%s', async (_what, attach) => {
    const talk = await Talk.start(service);
    const file = await attach(talk);
    const before = (await service.database.query('select 1 from files')).length;
    const read = jest.spyOn(service.app.get(FileStore), 'get');
    leave(memoryOf(LARGE.length) - 1);

    expect(await send(talk, [file])).toMatchObject(FULL);

    expect(read).not.toHaveBeenCalled();
    await expectNothingStored(talk);
    expect(await service.database.query('select 1 from files')).toHaveLength(before);
  });

  it('notes replace the files of earlier messages, and the run continues', async () => {
    const talk = await Talk.start(service);
    await send(talk, [await uploaded(talk)]);
    leave(0);

    expect((await talk.run('Again')).status).toBe(200);

    const note = '[The file "a.pdf" (application/pdf) was attached to this message. It cannot be shown at the moment.]';
    const [earlier] = anthropicWire.userParts(service.models.requests.at(-1)?.body ?? {});
    expect(earlier).toEqual([{ kind: 'text', text: `Look\n\n${note}` }]);
  });

  it('the newest of them get the memory that is left', async () => {
    const talk = await Talk.start(service);
    await send(talk, [elsewhere()], 'Older');
    await send(talk, [elsewhere()], 'Newer');
    leave(memoryOf(LARGE.length));
    await talk.run('Again');
    const sent = anthropicWire.userParts(service.models.requests.at(-1)?.body ?? {});
    expect(sent.map((parts) => parts.some(({ kind }) => kind === 'pdf'))).toEqual([false, true, false]);
  });
});

describe('the memory for attachments', () => {
  it('is released by a message that is refused for any reason', async () => {
    const talk = await Talk.start(service);
    expect((await send(talk, [await uploaded(talk), { ...elsewhere(), contentType: 'image/png' }])).status).toBe(422);
    expect(memory.bytes).toBe(0);
    jest.spyOn(service.app.get(FileStore), 'put').mockRejectedValue(new Error('away'));
    expect((await send(talk, [elsewhere()])).status).toBe(500);
    expect(memory.bytes).toBe(0);
  });

  it('is released when another message took the thread, or the caller disconnects', async () => {
    const talk = await Talk.start(service);
    const answers: (() => void)[] = [];
    site.respond((_request, response) => answers.push(() => response.end(LARGE)));
    const held = new HeldReply(['One']);
    const late = send(talk, [elsewhere()]);
    await until(() => answers.length === 1, 'the request for the attachment');
    service.models.next(held.script);
    const other = talk.run('Hi');
    await held.asked;
    answers[0]?.();
    expect((await late).status).toBe(409);
    expect(memory.bytes).toBe(0);
    held.finish();
    await other;

    site.respond((_request, response) => response.write(LARGE));
    const left = new AbortController();
    const abandoned = send(talk, [elsewhere()], 'Look', left.signal).catch(() => undefined);
    await until(() => memory.bytes > 0, 'the first bytes of the attachment');
    left.abort();
    await abandoned;
    await until(() => memory.bytes === 0, 'the memory of the request');
  });

  it('is released by a run that fails, is cancelled or whose thread is deleted', async () => {
    service.models.next(refuses(400));
    expect((await send(await Talk.start(service), [elsewhere()])).status).toBe(502);
    expect(memory.bytes).toBe(0);
    for (const end of ['POST', 'DELETE'] as const) {
      const talk = await Talk.start(service);
      const held = new HeldReply(['One']);
      service.models.next(held.script);
      const running = send(talk, [elsewhere()]);
      await held.asked;
      expect(memory.bytes).toBe(memoryOf(LARGE.length));
      const run = await talk.storedRun();
      await service.http(end, end === 'POST' ? `${talk.path}/runs/${run?.id ?? ''}/cancel` : talk.path, {
        key: talk.key,
      });
      await running;
      expect(memory.bytes).toBe(0);
    }
  });

  it('is held between model calls, and released with the files before the end is stored', async () => {
    const talk = await Talk.start(service);
    const seen: number[] = [];
    during(talk.threadId, { tools: [tool('look', () => (seen.push(memory.bytes), output('seen')), 'exempt')] });
    const persistRun = service.app.get(PersistRun, { strict: false });
    const persist = persistRun.run.bind(persistRun);
    const kept: string[] = [];
    jest.spyOn(persistRun, 'run').mockImplementation((turn, outcome) => {
      seen.push(memory.bytes);
      const { apiKey: _apiKey, ...rest } = turn;
      kept.push(JSON.stringify([rest, turn.conversation.messages, turn.context.attached.take()]));
      return persist(turn, outcome);
    });
    service.models.next(calls('look'), says('First.'), calls('look'), says('Second.'));

    expect((await send(talk, [elsewhere()])).status).toBe(200);
    expect((await talk.run('Again')).status).toBe(200);

    const held = memoryOf(LARGE.length);
    expect(seen).toEqual([held, 0, held, 0]);
    const bytes = LARGE.toString('base64').slice(0, 1_000);
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain(bytes);
    for (const text of kept) expect(text).not.toContain(bytes);
    expect((await talk.trace()).steps[0]).toMatchObject({
      input: { attachments: [{ name: 'a.pdf', size: LARGE.length }] },
    });
  });
});
