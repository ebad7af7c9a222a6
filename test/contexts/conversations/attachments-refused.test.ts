import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemNameResolver } from '../../../src/platform/egress/name-resolver.js';
import { FileStore, FileStoreUnavailable } from '../../../src/platform/files/index.js';
import { ADDRESS_CORPUS } from '../../support/address-corpus.js';
import { Canary } from '../../support/canary.js';
import { filePart, PDF, PNG, upload } from '../../support/files.js';
import { type Answer, message, startService, type TestService, until } from '../../support/harness.js';
import { HeldReply, says } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';

const MIB = 1024 * 1024;
/** Longer than the window of the rate limit. */
const WINDOW_MS = 61_000;

let service: TestService;
let clock: ShiftedClock;
/** A server for attachments, and one that must not be reached. */
let site: Canary;
let forbidden: Canary;

beforeAll(async () => {
  site = await Canary.start();
  forbidden = await Canary.start();
  clock = new ShiftedClock();
  service = await startService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${site.port}` } });
});
afterAll(async () => {
  await service.close();
  await site.close();
  await forbidden.close();
});
beforeEach(() => {
  service.models.reset();
  service.models.always(says('Seen.'));
  site.requests.length = 0;
  site.respond((_request, response) => response.end('text'));
});
afterEach(() => {
  jest.restoreAllMocks();
});

type Attachment = Readonly<Record<string, unknown>>;

const at = (url: string, contentType = 'text/plain'): Attachment => ({ name: 'a file', url, contentType });
const body = (attachments: unknown, text = 'Look'): object => ({
  message: { role: 'user', content: text, attachments },
});

function send(talk: Talk, attachments: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return service.http('POST', `${talk.path}/runs`, { key: talk.key, body: body(attachments), headers });
}

async function uploadedUrl(key: string, ...parts: Parameters<typeof filePart>): Promise<string> {
  return (await upload(service, key, filePart(...parts))).body.url;
}

async function files(talk: Talk): Promise<number> {
  return (await service.database.query('select 1 from files where organization_id = $1', [talk.organization.id]))
    .length;
}

async function expectNothingStored(talk: Talk): Promise<void> {
  expect(await talk.messages()).toEqual([]);
  expect(await talk.storedRun()).toBeUndefined();
  expect(service.models.requests).toEqual([]);
}

describe('an attachment with an invalid field', () => {
  it.each([
    ['is no list', {}, 'body/message/attachments must be an array'],
    [
      'has no name',
      [{ url: 'https://a.example/', contentType: 'text/plain' }],
      'body/message/attachments/0/name is required',
    ],
    ['has no URL', [{ name: 'a', contentType: 'text/plain' }], 'body/message/attachments/0/url is required'],
    ['has no type', [{ name: 'a', url: 'https://a.example/' }], 'body/message/attachments/0/contentType is required'],
    ['has a relative URL', [at('/file')], 'body/message/attachments/0/url must be an absolute URL'],
    ['has another field', [{ ...at('https://a.example/'), size: 1 }], 'body/message/attachments/0/size is not allowed'],
    [
      'is one of 21',
      Array.from({ length: 21 }, () => at('https://a.example/')),
      'body/message/attachments must be an array',
    ],
  ])('because it %s is 400, and nothing is stored', async (_what, attachments, named) => {
    const talk = await Talk.start(service);
    const answer = await send(talk, attachments);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'FST_ERR_VALIDATION', message: expect.stringContaining(named) },
    });
    await expectNothingStored(talk);
  });
});

describe('an attachment that cannot be used is a 422 that names it, and nothing is stored:', () => {
  it.each([
    [
      'an upload that was removed',
      async (talk: Talk) => {
        const url = await uploadedUrl(talk.key, 'x');
        await service.database.query('delete from files where organization_id = $1', [talk.organization.id]);
        return at(url);
      },
    ],
    ['an upload of another organization', async () => at(await uploadedUrl((await service.organization()).key, 'x'))],
    ['an upload over 20 MiB', async (talk: Talk) => at(await uploadedUrl(talk.key, Buffer.alloc(20 * MIB + 1, 'x')))],
    [
      'a file over 20 MiB elsewhere',
      () => {
        site.respond((_request, response) => response.end(Buffer.concat([PNG, Buffer.alloc(20 * MIB)])));
        return at(site.url, 'image/png');
      },
    ],
    ['text over 1 MiB', () => at(`data:text/plain,${'x'.repeat(MIB + 1)}`)],
    ['bytes that are not what they are declared to be', () => at(site.url, 'image/png')],
    ['a type that no model takes', () => at(site.url, 'video/mp4')],
    ['a damaged data URL', () => at('data:text/plain;base64,a?b')],
    [
      'a URL that answers 404',
      () => {
        site.respond((_request, response) => response.writeHead(404).end());
        return at(site.url);
      },
    ],
    [
      'a server that closes the connection midway',
      () => {
        site.respond((_request, response) => response.destroy());
        return at(site.url);
      },
    ],
    ['a URL of another scheme', () => at('ftp://a.example/file')],
  ] as const)('%s', async (_what, attach) => {
    const talk = await Talk.start(service);
    const bad = await attach(talk);
    const before = await files(talk);

    const answer = await send(talk, [at('data:text/plain,fine'), { ...bad, name: 'the bad one' }]);

    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      error: 'unprocessable_entity',
      message: expect.stringMatching(/^The attachment "the bad one" cannot be used: [A-Z].*\.$/),
    });
    expect(answer.headers.get('x-thread-id')).toBe(talk.threadId);
    await expectNothingStored(talk);
    expect(await files(talk)).toBe(before);
  });

  it('a GIF on models that do not take GIFs', async () => {
    const talk = await Talk.start(service, { provider: { type: 'gemini' } });
    const { status, text } = await send(talk, [
      at(`data:image/gif;base64,${Buffer.from('GIF89a').toString('base64')}`, 'image/gif'),
    ]);
    expect(status).toBe(422);
    expect(text).toContain('image/gif');
    await expectNothingStored(talk);
  });

  it('images that together exceed the limit of a provider', async () => {
    const talk = await Talk.start(service);
    site.respond((_request, response) => response.end(Buffer.concat([PDF, Buffer.alloc(11 * MIB)])));
    const answer = await send(talk, [at(site.url, 'application/pdf'), at(site.url, 'application/pdf')]);
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'unprocessable_entity', message: expect.stringContaining('29360128') },
    });
    await expectNothingStored(talk);
  });

  it('the same message for an upload of another organization and for a deleted one', async () => {
    const talk = await Talk.start(service);
    const gone = await uploadedUrl(talk.key, 'x');
    await service.database.query('delete from files where organization_id = $1', [talk.organization.id]);
    const foreign = await uploadedUrl((await service.organization()).key, 'x');
    expect((await send(talk, [at(foreign)])).body).toEqual((await send(talk, [at(gone)])).body);
  });

  it('on a stream too, as JSON before the first event', async () => {
    const talk = await Talk.start(service);
    const answer = await service.http('POST', `${talk.path}/runs/stream`, {
      key: talk.key,
      body: body([at(site.url, 'image/png')]),
    });
    expect(answer).toMatchObject({ status: 422, body: { error: 'unprocessable_entity' } });
    await expectNothingStored(talk);
  });
});

describe('an attachment URL with an internal address', () => {
  const answersOf = new Map(ADDRESS_CORPUS.map(({ host, answers = [] }) => [host, answers]));

  /** Sends a message for each spelling; the window of the rate limit ends in between. */
  async function attachEach(talk: Talk, urlOf: (host: string) => string): Promise<string[]> {
    jest.spyOn(SystemNameResolver.prototype, 'resolvePublic').mockImplementation((name) => {
      const answers = answersOf.get(name) ?? answersOf.get(`${name}.`) ?? [];
      return answers.length === 0 ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(answers);
    });
    const accepted: string[] = [];
    for (const [index, { what, host }] of ADDRESS_CORPUS.entries()) {
      if (index % 100 === 99) clock.moveOn(WINDOW_MS);
      // A spelling that is not a URL is refused as invalid.
      const { status, text } = await send(talk, [at(urlOf(host))]);
      if (status !== 422 && status !== 400) accepted.push(`${what}: ${status} ${text}`);
    }
    return accepted;
  }

  it('is refused in every spelling, without a connection', async () => {
    const talk = await Talk.start(service);
    const before = forbidden.connections;
    expect(ADDRESS_CORPUS.length).toBeGreaterThanOrEqual(190);
    expect(await attachEach(talk, (host) => `http://${host}:${forbidden.port}/`)).toEqual([]);
    expect(forbidden.connections).toBe(before);
    await expectNothingStored(talk);
  });

  it('is refused behind a redirect, without a connection', async () => {
    const talk = await Talk.start(service);
    const before = forbidden.connections;
    site.respond((request, response) => {
      const host = new URL(request.url ?? '', site.url).searchParams.get('to') ?? '';
      const location = encodeURI(`http://${host}:${forbidden.port}/`).replaceAll('%25', '%');
      response.writeHead(302, { location }).end();
    });
    expect(await attachEach(talk, (host) => `${site.url}/?to=${encodeURIComponent(host)}`)).toEqual([]);
    expect(site.requests).toHaveLength(ADDRESS_CORPUS.length);
    expect(forbidden.connections).toBe(before);
    await expectNothingStored(talk);
  });
});

describe('while attachments are fetched', () => {
  it('a caller that disconnects ends the work, and nothing is stored', async () => {
    const talk = await Talk.start(service);
    let closed = false;
    site.respond((request) => request.socket.once('close', () => (closed = true)));
    const left = new AbortController();
    const asked = service
      .fetch('POST', `${talk.path}/runs`, { key: talk.key, body: body([at(site.url)]), signal: left.signal })
      .catch(() => undefined);
    await until(() => site.requests.length === 1, 'the request for the attachment');

    left.abort();
    await asked;
    await until(() => closed, 'the end of that request');

    await expectNothingStored(talk);
    expect(await files(talk)).toBe(0);
  });

  it('a thread that another message takes is busy, and no copy is left', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['One', ' moment']);
    let finish = (): void => undefined;
    site.respond((_request, response) => {
      finish = () => response.end('text');
    });
    const slow = send(talk, [at(site.url)]);
    await until(() => site.requests.length === 1, 'the request for the attachment');
    service.models.next(held.script);
    const other = service.http('POST', `${talk.path}/runs`, { key: talk.key, body: message('Hi') });
    await held.asked;

    finish();
    expect(await slow).toMatchObject({ status: 409, body: { code: 'thread_busy' } });
    expect(await files(talk)).toBe(0);

    expect(await send(talk, [at(site.url)])).toMatchObject({ status: 409, body: { code: 'thread_busy' } });
    expect(site.requests).toHaveLength(1);
    held.finish();
    expect((await other).status).toBe(200);
  });
});

describe('when the file store does not work', () => {
  const broken = (): Promise<never> => Promise.reject(new FileStoreUnavailable(new Error('away')));

  it('a message with a file to copy is 503, and nothing is stored', async () => {
    const talk = await Talk.start(service);
    jest.spyOn(service.app.get(FileStore), 'put').mockImplementation(broken);
    expect((await send(talk, [at(site.url)])).status).toBe(503);
    await expectNothingStored(talk);
    expect(await files(talk)).toBe(0);
  });

  it('later runs continue without the files of earlier messages', async () => {
    const talk = await Talk.start(service);
    await send(talk, [at(site.url)]);
    jest.spyOn(service.app.get(FileStore), 'get').mockImplementation(broken);
    expect((await talk.run('Again')).status).toBe(200);
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('It can no longer be read.');
  });
});

describe('a repeated request with attachments', () => {
  it('gets the first one’s run and fetches nothing again; another body is 422', async () => {
    const talk = await Talk.start(service);
    const headers = { 'idempotency-key': 'one' };
    const first = await send(talk, [at(site.url)], headers);
    const again = await send(talk, [at(site.url)], headers);
    expect(again.body).toEqual(first.body);
    expect(first.status).toBe(200);
    const other = await send(talk, [at(`${site.url}/other`)], headers);
    expect(other).toMatchObject({ status: 422, body: { message: expect.stringContaining('Idempotency-Key') } });
    expect(site.requests).toHaveLength(1);
    expect(await talk.messages()).toHaveLength(2);
    expect(await files(talk)).toBe(1);
  });

  it('is executed once for many concurrent repeats, and keeps one copy', async () => {
    const talk = await Talk.start(service);
    const headers = { 'idempotency-key': 'one' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(talk, [at(site.url)], headers)));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await talk.messages()).toHaveLength(2);
    expect(await files(talk)).toBe(1);
  });
});
