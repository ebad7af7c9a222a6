import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { SystemNameResolver } from '../../../src/platform/egress/name-resolver.js';
import { ADDRESS_CORPUS, misleadingUrls } from '../../support/address-corpus.js';
import { Canary } from '../../support/canary.js';
import { useService } from '../../support/harness.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { group, type HooksDocument, setHooks, talkWith } from './support.js';

/** The operator's exemptions; tests change them, as a restart with other settings would. */
const exempt = new Set<string>();
const service = useService({ egressAllow: exempt });
/** A test fails when something connects to it. */
let canary: Canary;

beforeAll(async () => {
  canary = await Canary.start();
});
afterAll(() => canary.close());
beforeEach(() => {
  exempt.clear();
  const answersOf = new Map(ADDRESS_CORPUS.map(({ host, answers = [] }) => [host, answers]));
  jest.spyOn(SystemNameResolver.prototype, 'resolvePublic').mockImplementation((name) => {
    const answers = answersOf.get(name) ?? answersOf.get(`${name}.`) ?? [];
    return answers.length === 0 ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(answers);
  });
});
afterEach(() => {
  expect(canary.connections).toBe(0);
  jest.restoreAllMocks();
});

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];
const MAX_HANDLERS = 8;
const REFUSED = 'The host of the URL does not resolve to public addresses.';

function urlOf(host: string): string {
  return `https://${host}:${canary.port}/hook`;
}

/** Invalid hosts and hosts in another script are refused when the document is written. */
function isUri(host: string): boolean {
  return URL.canParse(`https://${host}/`) && /^[\x21-\x7e]+$/.test(host);
}

/** As many handlers as a document allows, the same number for each event. */
function documentOf(some: readonly string[]): HooksDocument {
  const handlers = some.map((url) => ({ type: 'http', url }));
  const events = EVENTS.map(
    (event, index) => [event, handlers.slice(index * MAX_HANDLERS, (index + 1) * MAX_HANDLERS)] as const,
  );
  return Object.fromEntries(
    events.filter(([, hooks]) => hooks.length > 0).map(([event, hooks]) => [event, [group(hooks)]]),
  );
}

interface Result {
  readonly outcome: string;
  readonly error: string | null;
}

async function fire(talk: Talk, event: string): Promise<readonly Result[]> {
  const { body } = await service.http<{ results: Result[] }>('POST', `/v1/agents/${talk.agentId}/hooks/test`, {
    key: talk.key,
    body: { event },
  });
  return body.results;
}

async function put(talk: Talk, url: string): Promise<number> {
  const body = { hooks: { Stop: [group([{ type: 'http', url }])] } };
  return (await service.http('PUT', `/v1/agents/${talk.agentId}/hooks`, { key: talk.key, body })).status;
}

describe('an endpoint that is not on the public internet', () => {
  it('is never connected to, however its address is written', async () => {
    const talk = await Talk.start(service);
    const refused = ADDRESS_CORPUS.filter(({ host }) => !isUri(host));
    for (const { what, host } of refused) expect([what, await put(talk, urlOf(host))]).toEqual([what, 400]);
    const urls = ADDRESS_CORPUS.filter(({ host }) => isUri(host)).map(({ host }) => urlOf(host));
    expect(urls.length).toBeGreaterThanOrEqual(190);
    const called: (readonly [string, Result | undefined])[] = [];
    for (let start = 0; start < urls.length; start += MAX_HANDLERS * EVENTS.length) {
      const some = urls.slice(start, start + MAX_HANDLERS * EVENTS.length);
      const document = documentOf(some);
      await setHooks(service, talk, document);
      const results: Result[] = [];
      for (const event of Object.keys(document)) results.push(...(await fire(talk, event)));
      called.push(...some.map((url, index) => [url, results[index]] as const));
    }
    expect(called.filter(([, result]) => result?.outcome !== 'failed' || result.error !== REFUSED)).toEqual([]);
  });

  it('is not reached by misleading URLs', async () => {
    const talk = await Talk.start(service);
    for (const url of misleadingUrls(canary.port).map((each) => each.replace(/^(\s*)http:/i, '$1https:'))) {
      const status = await put(talk, url);
      if (status === 200)
        expect([url, await fire(talk, 'Stop')]).toEqual([
          url,
          [expect.objectContaining({ outcome: 'failed', error: REFUSED })],
        ]);
      else expect([url, status]).toEqual([url, 400]);
    }
  });

  it.each([
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '10.0.0.1',
    '169.254.169.254',
    '[::1]',
    '[::ffff:127.0.0.1]',
    'localhost',
    'second.rebound.example',
  ])('is not reached by a run (%s), which continues, or is blocked with failClosed', async (host) => {
    const handler = { type: 'http', url: `https://${host}:${canary.port}/hook` };
    const open = await talkWith(service, { UserPromptSubmit: [group([handler])] });
    service.models.next(says('Hello'));
    expect(await open.run('Hi')).toMatchObject({ status: 200, body: { message: { content: 'Hello' } } });
    const step = { type: 'hook', name: 'UserPromptSubmit', output: { outcome: 'failed' }, error: REFUSED };
    expect((await open.trace()).steps).toMatchObject([step, { type: 'model' }]);

    const closed = await talkWith(service, { UserPromptSubmit: [group([{ ...handler, failClosed: true }])] });
    expect(await closed.run('Hi')).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { blocked: true } },
    });
    expect((await closed.trace()).steps).toMatchObject([step]);
    expect(service.models.requests).toHaveLength(1);
  });
});

describe('an endpoint over plain http', () => {
  it('is refused when the document is written, unless the operator exempts it', async () => {
    const talk = await Talk.start(service);
    expect(await put(talk, `http://127.0.0.1:${canary.port}/`)).toBe(400);
    expect(await put(talk, 'http://hooks.example/')).toBe(400);
    exempt.add('hooks.example:80');
    expect(await put(talk, 'http://hooks.example/')).toBe(200);
    expect(await put(talk, 'http://hooks.example:81/')).toBe(400);
  });

  it('is no longer called when the exemption is removed', async () => {
    exempt.add(`127.0.0.1:${canary.port}`);
    const hooks = {
      UserPromptSubmit: [group([{ type: 'http', url: `http://127.0.0.1:${canary.port}/`, failClosed: true }])],
    };
    const talk = await talkWith(service, hooks);
    exempt.clear();
    expect(await talk.run('Hi')).toMatchObject({ status: 200, body: { message: { blocked: true } } });
    expect((await talk.trace()).steps).toMatchObject([{ type: 'hook', error: 'The URL must be an https URL.' }]);
  });
});
