import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { SystemClock } from '../../../src/platform/clock/index.js';
import type { ReceivedHook } from '../../support/hook-server.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { HooksOf, rowsOutsideVault } from './hooks-of.js';
import { group, setHooks, useHookServer, useHookService } from './support.js';

const HOUR = 3_600_000;

/** A wall clock that tests can advance without waking timers. */
class SetClock extends SystemClock {
  private forth = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.forth);
  }

  set(ms: number): void {
    this.forth = ms;
  }
}

const clock = new SetClock();
const service = useHookService({ clock });
const server = useHookServer();

let tests = 0;
let path: string;
let hooks: HooksOf;

beforeEach(async () => {
  clock.set(0);
  tests += 1;
  path = `/signed/${tests}`;
  hooks = await HooksOf.start(service);
  await hooks.set({ Stop: [{ hooks: [{ type: 'http', url: server.url(path) }] }] });
});

async function called(): Promise<ReceivedHook> {
  await hooks.test({ event: 'Stop' });
  const call = server.of(path).at(-1);
  if (!call) throw new Error('The endpoint was not called');
  return call;
}

async function rotated(): Promise<string> {
  const { status, body } = await hooks.rotate();
  expect(status).toBe(200);
  return body.secret;
}

/** The secrets that verify the call with the reference implementation, on the bytes that were sent. */
function verifying({ headers, text }: ReceivedHook, secrets: readonly string[]): readonly boolean[] {
  // It refuses old timestamps by the clock of this process.
  const today = jest.spyOn(Date, 'now').mockReturnValue(clock.now().getTime());
  try {
    return secrets.map((secret) =>
      isVerified(() => new Webhook(secret).verify(text, headers as Record<string, string>)),
    );
  } finally {
    today.mockRestore();
  }
}

function isVerified(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}

describe('calls of http handlers', () => {
  it('are not signed without a secret', async () => {
    const { headers } = await called();
    expect(Object.keys(headers).filter((name) => name.startsWith('webhook-'))).toEqual([]);
  });

  it('are signed after the secret is created, each with a unique id and the present time', async () => {
    const { status, body } = await hooks.rotate();
    expect([status, body]).toEqual([
      200,
      {
        secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
        createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      },
    ]);
    const [first, second] = [await called(), await called()];
    expect(verifying(first, [body.secret])).toEqual([true]);
    expect(verifying(second, [body.secret])).toEqual([true]);
    expect(first.headers['webhook-id']).toMatch(/^msg_\S+$/);
    expect(first.headers['webhook-id']).not.toBe(second.headers['webhook-id']);
    expect(String(first.headers['webhook-signature']).split(' ')).toHaveLength(1);
    expect(verifying({ ...first, text: `${first.text} ` }, [body.secret])).toEqual([false]);
  });

  it('are signed in runs, over the exact bytes of the body', async () => {
    const talk = await Talk.start(service);
    await setHooks(service, talk, { UserPromptSubmit: [group([{ type: 'http', url: server.url(path) }])] });
    const { body } = await service.http<{ secret: string }>('POST', `/v1/agents/${talk.agentId}/hooks/secret`, {
      key: talk.key,
    });
    service.models.next(says('Hello'));
    await talk.run('Grüße \u{1f600} \u2028');
    expect(server.of(path).map((call) => verifying(call, [body.secret]))).toEqual([[true]]);
  });

  it('do not contain signature headers of the customer', async () => {
    const headers = { 'Webhook-Signature': 'v1,mine', 'webhook-id': 'mine', 'WEBHOOK-TIMESTAMP': '1' };
    await hooks.set({ Stop: [{ hooks: [{ type: 'http', url: server.url(path), headers }] }] });
    const secret = await rotated();
    const call = await called();
    expect(verifying(call, [secret])).toEqual([true]);
    expect(JSON.stringify(call.headers)).not.toContain('mine');
  });
});

describe('a rotation', () => {
  it('lets both secrets sign for 24 hours, and then only the new one', async () => {
    const first = await rotated();
    const second = await rotated();
    const other = await HooksOf.start(service);
    const foreign = (await other.rotate()).body.secret;
    const call = await called();
    expect(verifying(call, [first, second, foreign])).toEqual([true, true, false]);
    expect(String(call.headers['webhook-signature']).split(' ')).toHaveLength(2);
    clock.set(24 * HOUR - 60_000);
    expect(verifying(await called(), [first, second])).toEqual([true, true]);
    clock.set(24 * HOUR + 60_000);
    expect(verifying(await called(), [first, second])).toEqual([false, true]);
  });

  it('ends the secret before the previous one at once', async () => {
    const [first, second, third] = [await rotated(), await rotated(), await rotated()];
    expect(verifying(await called(), [first, second, third])).toEqual([false, true, true]);
  });

  it('by two concurrent requests succeeds for both, and both secrets verify', async () => {
    await rotated();
    const answers = await Promise.all([hooks.rotate(), hooks.rotate()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const secrets = answers.map(({ body }) => body.secret);
    expect(new Set(secrets).size).toBe(2);
    expect(verifying(await called(), secrets)).toEqual([true, true]);
    expect(await hooks.version()).toBe(5);
  });

  it('returns its time, never earlier than that of an earlier rotation', async () => {
    const first = (await hooks.rotate()).body;
    clock.set(HOUR);
    const second = (await hooks.rotate()).body;
    expect(Date.parse(second.createdAt) - Date.parse(first.createdAt)).toBeGreaterThanOrEqual(HOUR);
  });
});

describe('the secret', () => {
  it('is shown once, and no other response, request or stored row contains it', async () => {
    server.url(path, () => ({ additionalContext: 'seen' }));
    const secret = await rotated();
    await called();
    const answers: unknown[] = [
      (await hooks.read()).text,
      await hooks.versions(),
      (await hooks.test({ event: 'Stop' })).text,
    ];
    answers.push(
      (await hooks.ask('GET', 'traces')).text,
      (await hooks.ask('GET', 'session-start-hook')).text,
      (await hooks.put({})).text,
    );
    answers.push(server.received, await rowsOutsideVault(service));
    const bare = secret.slice('whsec_'.length);
    expect(answers.map((answer) => JSON.stringify(answer).includes(bare))).toEqual(answers.map(() => false));
  });

  it('is removed from the output of an endpoint that repeats it', async () => {
    const secret = await rotated();
    server.url(path, () => ({ decision: 'block', reason: `Signed with ${secret}` }));
    const { text } = await hooks.test({ event: 'Stop' });
    expect(text).toContain('Signed with [redacted]');
  });

  it('is kept when the hooks are removed, and signs the calls of later hooks', async () => {
    const secret = await rotated();
    await hooks.remove();
    await hooks.set({ Stop: [{ hooks: [{ type: 'http', url: server.url(path) }] }] });
    expect(verifying(await called(), [secret])).toEqual([true]);
  });

  it('can be created before there are hooks', async () => {
    const fresh = await HooksOf.start(service);
    expect((await fresh.rotate()).status).toBe(200);
    expect((await fresh.read()).body).toEqual({ hooks: {} });
  });
});
