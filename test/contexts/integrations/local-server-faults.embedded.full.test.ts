import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Settings } from '../../../src/platform/config/index.js';
import { useService } from '../../support/harness.js';
import { catalogueOf, isRunning, localApp } from '../../support/local-app.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { LyingToolServer } from '../../support/lying-tool-server.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';
import { attach, echoOf, integrationsPath, modelRead, usesTools } from '../../support/tool-runs.js';
import { until } from '../../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'local-faults-'));
const clock = new ShiftedClock();
const service = useService({
  clock,
  environment: { ...catalogueOf(folder, 'one', 'two'), MCP_LOCAL_SERVERS: '1' },
  egressAllow: new LoopbackPorts(),
});
const SECRET = 'canary-local-secret';

let steady: LyingToolServer;
let talk: Talk;

beforeEach(async () => {
  steady = await LyingToolServer.start();
  talk = await Talk.start(service);
  await add('one');
  await attach(service, talk, { url: steady.url, app: 'steady' });
});
afterEach(() => steady.close());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function add(app: string): Promise<void> {
  const answer = await service.http('POST', integrationsPath(talk), { key: talk.key, body: localApp(app, SECRET) });
  expect(answer).toMatchObject({ status: 201, body: { status: 'connected' } });
}

async function run(...tools: readonly string[]): Promise<void> {
  service.models.next(...usesTools(...tools));
  expect(await talk.run('Go')).toMatchObject({ body: { run: { status: 'completed', error: null } } });
}

async function idOf(app: string): Promise<string> {
  const { body } = await service.http<{ integrations: { id: string; app: string }[] }>('GET', integrationsPath(talk), {
    key: talk.key,
  });
  return body.integrations.find((integration) => integration.app === app)?.id ?? '';
}

/** The process of the agent's first server. */
async function pidOf(app: string): Promise<number> {
  await run(`mcp__${app}__pid`);
  return Number(modelRead(service.models).at(-1)?.output);
}

describe('a local server', () => {
  it.each([
    ['crash', 'The local server ended unexpectedly (exit code 3).'],
    ['endless', 'The local server wrote a message larger than 1 MB and was ended.'],
  ])('that fails in a call (%s) fails only this call of the run, and is started again', async (tool, words) => {
    const pid = await pidOf('one');
    await run(`mcp__one__${tool}`, echoOf('steady'));
    expect(modelRead(service.models).slice(-2)).toMatchObject([
      { output: words, isError: true },
      { output: 'done', isError: false },
    ]);
    expect((await talk.trace()).steps.find(({ name }) => name === `mcp__one__${tool}`)).toMatchObject({ error: words });
    await until(() => !isRunning(pid), 'its process is gone');
    const works = async (): Promise<boolean> => {
      await run('mcp__one__pid');
      return modelRead(service.models).at(-1)?.isError === false;
    };
    await until(works, 'it was started again');
    expect(Number(modelRead(service.models).at(-1)?.output)).not.toBe(pid);
  });

  it('that was killed can be started again after the time that the error of a call names', async () => {
    const pid = await pidOf('one');
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid), 'its process is gone');
    let seconds = NaN;
    // The service may notice the end only by a call, whose error tells no time.
    const isRefused = async (): Promise<boolean> => {
      await run('mcp__one__pid');
      const { output, isError } = modelRead(service.models).at(-1) ?? {};
      expect(isError).toBe(true);
      seconds = Number(/started again in (\d+) s/.exec(String(output))?.[1]);
      return seconds > 0;
    };
    await until(isRefused, 'a call is refused with the time of the next start');
    clock.moveOn(seconds * 1_000);
    expect(await pidOf('one')).not.toBe(pid);
    expect(modelRead(service.models).at(-1)).toMatchObject({ isError: false });
  });

  it('that has just failed is started again by a test, as soon as possible', async () => {
    await run('mcp__one__crash');
    const tested = await service.http('POST', `${integrationsPath(talk)}/${await idOf('one')}/test`, { key: talk.key });
    expect(tested).toMatchObject({ status: 200, body: { ok: true, error: null } });
  });

  it('above the limit is an error that the model reads, until there is room', async () => {
    await add('two');
    const silent = await talk.another();
    const pid = await pidOf('one');
    service.models.next(...usesTools('mcp__one__silent').slice(0, 1));
    const waiting = silent.run('Wait');
    const called = join(service.app.get(Settings).dataDir, 'integrations', await idOf('one'), 'silent');
    await until(() => existsSync(called), 'its call is under way');
    await run('mcp__two__pid', echoOf('steady'));
    expect(modelRead(service.models).slice(-2)).toMatchObject([
      { output: 'Too many local servers are in use. Try again later.', isError: true },
      { output: 'done' },
    ]);

    await service.http('POST', `${silent.path}/runs/${(await silent.storedRun())?.id ?? ''}/cancel`, { key: talk.key });
    await waiting;
    expect(isRunning(pid)).toBe(true);
    const works = async (): Promise<boolean> => {
      await run('mcp__two__pid');
      return modelRead(service.models).at(-1)?.isError === false;
    };
    await until(works, 'the idle one has made room');
    await until(() => !isRunning(pid), 'the first one was ended');
  });

  it('cannot reveal its secrets in its results', async () => {
    await run('mcp__one__environment');
    expect(modelRead(service.models)).toMatchObject([
      { output: expect.stringContaining('"KEY":"[redacted]"'), isError: false },
    ]);
  });

  it('ends with its integration, even during a call', async () => {
    const pid = await pidOf('one');
    service.models.next(...usesTools('mcp__one__silent', echoOf('steady')));
    const running = talk.run('Go');
    await until(() => steady.count('tools/call') === 1, 'the calls are under way');
    const id = await idOf('one');
    expect((await service.http('DELETE', `${integrationsPath(talk)}/${id}`, { key: talk.key })).status).toBe(204);
    expect(await running).toMatchObject({ body: { run: { status: 'completed' } } });
    expect(modelRead(service.models).slice(-2)).toMatchObject([{ isError: true }, { output: 'done' }]);
    await until(() => !isRunning(pid), 'its process is gone');
  });
});
