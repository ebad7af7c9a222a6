import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestService, useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { answerText, type LyingCall, LyingToolServer } from '../../support/lying-tool-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { Talk } from '../../support/talk.js';
import { alwaysUses, attach, customServer, echoOf, integrationsPath, usesTools } from '../../support/tool-runs.js';
import { until } from '../../support/until.js';

const ORGANIZATIONS = 100;
/** Limits concurrent requests, because a test's database has few connections. */
const FEW = 20;
// No call exceeds its timeout, however many are under way.
const service = useService({ clock: new ManualClock(), egressAllow: new LoopbackPorts() });

let server: LyingToolServer;

beforeAll(async () => {
  server = await LyingToolServer.start();
});
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  server.answer('tools/call', tellWhoAsks);
});

interface Asked {
  readonly key: unknown;
  readonly session: unknown;
  readonly userId: unknown;
}

/** As the server returns it: in clear it would be redacted in what a run reads. */
function coded(secret: string): string {
  return Buffer.from(secret).toString('hex');
}

/** The owner of the header, session and `_meta` of a call. */
function askedWith({ request: { headers }, params }: LyingCall): Asked {
  const { userContext } = (params['_meta'] ?? {}) as { userContext?: { userId?: string } };
  return { key: coded(String(headers['x-key'])), session: headers['mcp-session-id'], userId: userContext?.userId };
}

function tellWhoAsks(call: LyingCall): void {
  answerText(call, JSON.stringify(askedWith(call)));
}

interface Customer {
  readonly talk: Talk;
  readonly secret: string;
}

async function customer(index: number): Promise<Customer> {
  const talk = await Talk.start(service);
  const secret = `secret-of-${index}`;
  await attach(service, talk, { url: server.url, secretHeaders: { 'X-Key': secret } });
  return { talk, secret };
}

async function customers(count: number): Promise<Customer[]> {
  const all: Customer[] = [];
  for (let first = 0; first < count; first += FEW) {
    all.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(FEW, count - first) }, (_, index) => customer(first + index)),
      )),
    );
  }
  return all;
}

/**
 * Runs of all of them with concurrent calls, which are answered in random order, so that answers could be mixed up.
 */
async function answeredTogether(asking: readonly (readonly [Customer, TestService])[]): Promise<Asked[]> {
  const calls: LyingCall[] = [];
  server.answer('tools/call', (call) => calls.push(call));
  const runs: Promise<Asked>[] = [];
  let ended = 0;
  const end = (): void => void (ended += 1);
  for (let first = 0; first < asking.length; first += FEW) {
    for (const [customer, on] of asking.slice(first, first + FEW)) {
      const run = answered(customer, on);
      run.then(end, end);
      runs.push(run);
    }
    await until(() => calls.length + ended >= runs.length, 'their calls are under way');
  }
  calls.sort(() => Math.random() - 0.5);
  while (calls.length > 0) {
    for (const call of calls.splice(0, FEW)) tellWhoAsks(call);
    await until(() => calls.length + ended >= runs.length, 'their runs have ended');
  }
  return Promise.all(runs);
}

async function answered({ talk }: Customer, on: TestService): Promise<Asked> {
  const own = (await talk.another()).on(on);
  const { body, text } = await own.run('Who am I?', { config: { userContext: { userId: talk.organization.id } } });
  return askedOf(body.message?.content ?? text);
}

/** @throws the run's other text */
function askedOf(content = ''): Asked {
  if (!content.startsWith('["{')) throw new Error(`The run said: ${content}`);
  const [output = ''] = JSON.parse(content) as string[];
  return JSON.parse(output) as Asked;
}

describe('organizations that call one server at the same time', () => {
  it('each get the answer to their own call with their own header, session and user, on every replica', async () => {
    const all = await customers(ORGANIZATIONS);
    const replica = await service.replica();
    try {
      service.models.always(alwaysUses(echoOf('tickets')));
      replica.models.always(alwaysUses(echoOf('tickets')));
      const twice = await answeredTogether(
        [0, 1].flatMap((round) =>
          all.map((each, index) => [each, (index + round) % 2 === 0 ? service : replica] as const),
        ),
      );
      expect(twice).toHaveLength(2 * ORGANIZATIONS);
      for (const [index, { key, userId }] of twice.entries()) {
        const { talk, secret } = all[index % ORGANIZATIONS]!;
        expect({ key, userId }).toEqual({ key: coded(secret), userId: talk.organization.id });
      }
      const keysOfSession = new Map<unknown, Set<unknown>>();
      for (const { headers } of server.requests) {
        const session = headers['mcp-session-id'];
        if (session !== undefined)
          keysOfSession.set(session, (keysOfSession.get(session) ?? new Set()).add(headers['x-key']));
      }
      expect(keysOfSession.size).toBeGreaterThanOrEqual(ORGANIZATIONS);
      expect([...keysOfSession.values()].every(({ size }) => size === 1)).toBe(true);
      expect(server.count('tools/call')).toBe(2 * ORGANIZATIONS);
    } finally {
      await replica.close();
    }
  });
});

describe('two agents of one organization with integrations of their own at one server', () => {
  it('use their own header and session', async () => {
    const first = await customer(1);
    const agentId = await service.agent(first.talk.key);
    const second = { key: first.talk.key, agentId };
    await attach(service, second, { url: server.url, app: 'other', secretHeaders: { 'X-Key': 'secret-of-the-other' } });
    const threadId = await service.thread(second.key, agentId);
    // Each agent has one of the two. A call of the other's tool does not reach the server.
    const use = [alwaysUses(echoOf('tickets')), alwaysUses(echoOf('other'))] as const;
    service.models.always((exchange, wire) =>
      use[JSON.stringify(exchange.request.body['tools']).includes('mcp__other') ? 1 : 0](exchange, wire),
    );
    const ofSecond = async (): Promise<Asked> => {
      const options = { key: second.key, body: { message: { role: 'user', content: 'Who am I?' } } };
      const { body } = await service.http<{ message: { content: string } }>(
        'POST',
        `/v1/threads/${threadId}/runs`,
        options,
      );
      return askedOf(body.message.content);
    };
    const [one, other] = await Promise.all([answered(first, service), ofSecond()]);
    expect([one.key, other.key]).toEqual([coded(first.secret), coded('secret-of-the-other')]);
    expect(one.session).not.toBe(other.session);
    expect(other.userId).toBeUndefined();
  });
});

/** Without the requests that open streams, which come at any time. */
function asked(): number {
  return server.requests.filter(({ httpMethod }) => httpMethod === 'POST').length;
}

describe('another organization', () => {
  it('can neither see nor affect an integration or a run with a call under way', async () => {
    const { talk } = await customer(1);
    const [{ id } = { id: '' }] = (
      await service.http<{ integrations: { id: string }[] }>('GET', integrationsPath(talk), { key: talk.key })
    ).body.integrations;
    const stranger = await customer(2);
    let held: LyingCall | undefined;
    server.answer('tools/call', (call) => (held = call));
    service.models.next(...usesTools(echoOf('tickets')));
    const run = talk.run('Go');
    await until(() => held !== undefined, 'the call is under way');
    const before = asked();

    const theirs = `${integrationsPath(talk)}/${id}`;
    const mixed = `${integrationsPath(stranger.talk)}/${id}`;
    const { id: runId = '' } = (await talk.storedRun()) ?? {};
    const attempts: [string, string, object?][] = [theirs, mixed].flatMap((path): [string, string, object?][] => [
      ['GET', path],
      ['PUT', path, customServer({ url: 'http://127.0.0.1:1/mcp' })],
      ['POST', `${path}/test`],
      ['POST', `${path}/authorize`, { redirectUrl: 'https://example.com/back' }],
      ['DELETE', path],
    ]);
    attempts.push(
      ['GET', `${talk.path}/runs/${runId}`],
      ['POST', `${talk.path}/runs/${runId}/cancel`],
      ['POST', `${talk.path}/runs`, { resume: [{ interruptId: runId, status: 'cancelled' }] }],
      ['DELETE', `/v1/agents/${talk.agentId}`],
    );
    for (const [method, path, body] of attempts) {
      const { status, text } = await service.http(method, path, { key: stranger.talk.key, ...(body && { body }) });
      expect([method, path, status]).toEqual([method, path, 404]);
      expect(text).not.toContain('secret-of');
    }
    expect(asked()).toBe(before);
    answerText(held!, 'mine');
    expect(await run).toMatchObject({ body: { run: { status: 'completed' }, message: { content: '["mine"]' } } });
    expect((await service.http('GET', theirs, { key: talk.key })).body).toMatchObject({
      status: 'connected',
      url: server.url,
    });
  });
});
