import { beforeEach, describe, expect, it } from '@jest/globals';
import { FileDirectory } from '../../../src/files/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { filePart, PNG, upload, type UploadedAnswer } from '../../support/files.js';
import { useService, type TestOrganization } from '../../support/harness.js';
import { ShiftedClock } from '../../support/shifted-clock.js';

const HOUR_MS = 3_600_000;
const PUBLIC_URL = 'https://agents.example';

const clock = new ShiftedClock();
const service = useService({ clock, environment: { PUBLIC_URL } });
let owner: TestOrganization;

beforeEach(async () => {
  owner = await service.organization();
});

async function uploaded(...parts: Parameters<typeof filePart>): Promise<UploadedAnswer> {
  return (await upload(service, owner.key, filePart(...parts))).body;
}

/** The URL on the test's own host, because the public one does not exist. */
function here(url: string): string {
  return url.replace(PUBLIC_URL, service.baseUrl);
}

async function statusAt(url: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(here(url));
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {} };
}

function changed(url: string, change: (parsed: URL) => void): string {
  const parsed = new URL(url);
  change(parsed);
  return parsed.href;
}

describe('uploading', () => {
  it('needs a key with the capability chat', async () => {
    const { key } = await owner.keyWith(['manageAgents']);
    const file = filePart('x');
    const lacking = await upload<Record<string, unknown>>(service, key, file);
    expect(lacking).toMatchObject({ status: 403, body: { code: 'forbidden_by_key_role' } });
    const none = await upload<Record<string, unknown>>(service, undefined, file);
    expect(none).toMatchObject({ status: 401, body: { code: 'api_key_missing' } });
    const malformed = await upload<Record<string, unknown>>(service, 'ak_nonsense', file);
    expect(malformed).toMatchObject({ status: 401, body: { code: 'api_key_invalid' } });
    expect(await service.database.query('select 1 from files where organization_id = $1', [owner.id])).toEqual([]);
  });

  it('for an agent of another organization answers as for one that does not exist', async () => {
    const stranger = await service.organization();
    const foreign = await service.agent(stranger.key);
    const answers = await Promise.all(
      [foreign, newId()].map((value) =>
        upload<{ message: string }>(service, owner.key, filePart('x'), { name: 'assistant_id', value }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    const [first, second] = answers.map(({ text }) => text.replaceAll(/[0-9a-f-]{36}/g, 'id'));
    expect(first).toBe(second);
    expect(await service.database.query('select 1 from files where organization_id = $1', [owner.id])).toEqual([]);
  });

  it('for an agent that is not on the allowlist of the key is forbidden', async () => {
    const [allowed, other] = [await service.agent(owner.key), await service.agent(owner.key)];
    const { key } = await owner.keyWith(['chat'], [allowed]);
    const ask = (value: string): ReturnType<typeof upload> =>
      upload(service, key, { name: 'assistant_id', value }, filePart('x'));
    expect((await ask(allowed)).status).toBe(200);
    expect(await ask(other)).toMatchObject({ status: 403, body: { code: 'forbidden_by_agent_allowlist' } });
    expect((await upload(service, key, filePart('x'))).status).toBe(200);
  });

  it('counts against the chat budget of the agent, or of the organization when it names none', async () => {
    const agent = await service.agent(owner.key);
    const remaining = async (...value: string[]): Promise<number> => {
      const fields = value.map((id) => ({ name: 'assistant_id', value: id }));
      const { headers } = await upload(service, owner.key, filePart('x'), ...fields);
      expect(headers.get('ratelimit-limit')).toBe('600');
      return Number(headers.get('ratelimit-remaining'));
    };
    expect(await remaining(agent)).toBe(599);
    await service.thread(owner.key, agent);
    expect(await remaining(agent)).toBe(597);
    expect(await remaining()).toBe(599);
  });
});

describe('the URL of a file', () => {
  it('is on PUBLIC_URL, and offers the file only for saving', async () => {
    const { url, id } = await uploaded('<script>alert(1)</script>', 'text/html', 'grüße (x).html');
    expect(url.startsWith(`${PUBLIC_URL}/v1/files/${id}/content?expires=`)).toBe(true);
    const answer = await fetch(here(url));
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-length': '25',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': expect.stringMatching(/^private, max-age=3[56]\d\d$/),
    });
    const disposition = answer.headers.get('content-disposition');
    expect(disposition).toBe(`attachment; filename="gr__e (x).html"; filename*=UTF-8''gr%C3%BC%C3%9Fe%20%28x%29.html`);
  });

  it('answers HEAD without the content', async () => {
    const { url } = await uploaded('hello');
    const answer = await fetch(here(url), { method: 'HEAD' });
    expect({ status: answer.status, length: answer.headers.get('content-length') }).toEqual({
      status: 200,
      length: '5',
    });
  });

  it('is valid for an hour, and answers 410 after that', async () => {
    const { url } = await uploaded('x');
    clock.moveOn(HOUR_MS - 30_000);
    expect((await statusAt(url)).status).toBe(200);
    clock.moveOn(60_000);
    expect(await statusAt(url)).toMatchObject({ status: 410, body: { code: 'file_url_expired', error: 'gone' } });
  });

  it('is forbidden when any character of it is changed', async () => {
    const { url } = await uploaded('x');
    const other = await uploaded('y');
    const forged = [
      changed(url, ({ searchParams }) => searchParams.set('expires', '9999999999')),
      changed(url, ({ searchParams }) => searchParams.set('expires', `${searchParams.get('expires') ?? ''}0`)),
      changed(url, ({ searchParams }) => searchParams.set('signature', 'x'.repeat(43))),
      changed(url, ({ searchParams }) => searchParams.set('signature', '')),
      changed(url, ({ searchParams }) => searchParams.set('signature', 'é'.repeat(43))),
      changed(url, (parsed) => (parsed.pathname = `/v1/files/${other.id}/content`)),
      changed(url, (parsed) => (parsed.pathname = `/v1/files/${newId()}/content`)),
    ];
    for (const each of forged) {
      expect(await statusAt(each)).toMatchObject({ status: 403, body: { code: 'file_url_invalid' } });
    }
    const unsigned = changed(url, (parsed) => (parsed.search = ''));
    expect(await statusAt(unsigned)).toMatchObject({ status: 400, body: { code: 'FST_ERR_VALIDATION' } });
  });

  it('of a file that was removed is not found', async () => {
    const { url, id } = await uploaded('x');
    await service.database.query('delete from files where id = $1', [id]);
    expect(await statusAt(url)).toMatchObject({ status: 404, body: { error: 'not_found' } });
  });
});

describe('the directory', () => {
  const directory = (): FileDirectory => service.app.get(FileDirectory, { strict: false });

  it('opens a file for its organization, under any host and long after its URL expired', async () => {
    const { url, id } = await uploaded(PNG, 'image/png', 'a.png');
    clock.moveOn(48 * HOUR_MS);
    for (const each of [url, here(url), url.replace(PUBLIC_URL, 'https://former.example/base')]) {
      const file = await directory().open(owner.id, each);
      expect(file).toMatchObject({ id, name: 'a.png', contentType: 'image/png', size: PNG.length });
      expect(await file?.read()).toEqual(PNG);
    }
  });

  it('opens no file for another organization, and none with an invalid signature', async () => {
    const { url, id } = await uploaded('x');
    const stranger = await service.organization();
    expect(await directory().open(stranger.id, url)).toBeNull();
    const forged = changed(url, ({ searchParams }) => searchParams.set('signature', 'x'.repeat(43)));
    expect(await directory().open(owner.id, forged)).toBeNull();
    expect(await directory().open(owner.id, 'not a url')).toBeNull();
    expect(
      [url, forged, `https://elsewhere.example/v1/files/${id}/content`].map((each) => directory().isOwn(each)),
    ).toEqual([true, true, false]);
    expect(directory().idOf(forged)).toBeNull();
  });
});
