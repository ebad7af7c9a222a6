import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HEARTBEAT_MS } from '../../../src/conversations/engine/limits.js';
import { RunRepository } from '../../../src/conversations/persistence/run.repository.js';
import { message, startService, type TestService, until } from '../../support/harness.js';
import { heldRequest, heldRun } from '../../support/held-run.js';
import { ManualClock } from '../../support/manual-clock.js';
import { heartbeatsOver } from '../../support/run-owners.js';
import { statementsOf } from '../../support/statements.js';
import type { Talk } from '../../support/talk.js';

const clock = new ManualClock();
const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
let service: TestService;
let replica: TestService;

beforeAll(async () => {
  process.on('unhandledRejection', note);
  service = await startService({ clock });
  replica = await service.replica();
});
afterAll(async () => {
  await replica.close();
  await service.close();
  process.off('unhandledRejection', note);
});
beforeEach(() => {
  service.models.reset();
  unhandled.length = 0;
});

const NAMED = { 'idempotency-key': 'one' };

/** The request for both processes, with a key that makes the second a repeat of the first. */
interface Request {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function waitingRun({ path }: Talk): Request {
  return { path: `${path}/runs`, body: message('Hi'), headers: NAMED };
}

function chatCompletion({ agentId }: Talk): Request {
  const messages = [{ role: 'user', content: 'Hi' }];
  return { path: '/v1/chat/completions', body: { assistant_id: agentId, messages }, headers: NAMED };
}

/** Sends the repeat to the other process, which waits for the run, and disconnects. */
async function leaveWhileWaiting({ key }: Talk, { path, ...options }: Request): Promise<void> {
  const before = clock.sleeping();
  const left = new AbortController();
  const asking = replica.http('POST', path, { key, signal: left.signal, ...options });
  asking.catch(() => undefined);
  await until(() => clock.sleeping() > before, 'the other process waits');
  left.abort();
  await expect(asking).rejects.toThrow();
}

/** How often the run is read within some seconds, which is the cost of waiting for it. */
async function reads(): Promise<number> {
  const statements = await statementsOf(service.database, async () => {
    for (let passed = 0; passed < 4_000; passed += 500) {
      await clock.advance(500);
      await service.database.query('select 1');
    }
  });
  return statements.filter((sql) => /\bfrom "runs" where "organization_id"/.test(sql)).length;
}

describe('a caller that disconnects while another process executes the run', () => {
  it.each([
    ['a repeat of a waiting run', waitingRun],
    ['a repeat of a chat completion', chatCompletion],
  ])('from %s causes no further reads, and the run continues', async (_what, requestOf) => {
    const { talk, held, running } = await heldRequest(service, (caller) => {
      const { path, ...options } = requestOf(caller);
      return service.http('POST', path, { key: caller.key, ...options });
    });

    await leaveWhileWaiting(talk, requestOf(talk));
    await until(async () => (await reads()) === 0, 'no caller waits for the run');

    held.finish();
    expect(await running).toMatchObject({ status: 200, text: expect.stringContaining('Half and half') });
    expect(unhandled).toEqual([]);
  });

  it('from a cancel request causes no further reads, and the run is cancelled', async () => {
    const { talk, held, running, asked } = await heldRun(service);
    const run = await talk.storedRun();
    await heartbeatsOver(service, replica);

    // The owner of the run finds the request at its next heartbeat, which the test triggers.
    const beat = jest.spyOn(service.app.get(RunRepository), 'beat').mockRejectedValue(new Error('not yet'));
    await leaveWhileWaiting(talk, { path: `${talk.path}/runs/${run?.id ?? ''}/cancel` });
    await until(async () => (await reads()) === 0, 'no caller waits for the run');
    expect(await talk.storedRun()).toMatchObject({ status: 'running' });
    beat.mockRestore();
    await clock.advance(HEARTBEAT_MS);

    await asked.disconnected;
    held.finish();
    expect(await running).toMatchObject({ status: 200, body: { run: { status: 'cancelled' } } });
    expect(unhandled).toEqual([]);
  });
});
