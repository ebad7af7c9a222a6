import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { RefreshToolLists } from '../../../src/integrations/application/refresh-tool-lists.js';
import { ConnectionPool } from '../../../src/integrations/mcp/connection-pool.js';
import { IDLE_MS } from '../../../src/integrations/mcp/mcp-limits.js';
import { until, useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { ManualClock } from '../../support/manual-clock.js';
import { says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';

const SAID_WITHIN_MS = 500;
const ASKED_ONCE_IN_MS = 5_000;
const LIST_TTL_MS = 300_000;

const clock = new ManualClock();
const service = useService({ clock, egressAllow: new LoopbackPorts() });
let server: ToolServer;
/** Each check that the service starts. */
const armed = jest.spyOn(clock, 'after');
let checks: jest.SpiedFunction<RefreshToolLists['check']>;

beforeEach(async () => {
  checks = jest.spyOn(service.app.get(RefreshToolLists, { strict: false }), 'check');
  server = await ToolServer.start('modern', { name: 'look' });
});
afterEach(() => server.close());

const listed = (times: number): Promise<void> => until(() => server.listings === times, `it is asked ${times} times`);

const heard = (): number => armed.mock.calls.filter(([ms]) => ms === SAID_WITHIN_MS).length;

/** Notifies of changed tools, and waits until the service has received it. */
async function announce(): Promise<void> {
  await until(() => server.listeners > 0, 'it is listened to');
  const before = heard();
  server.become([{ name: 'look' }], { announced: true });
  await until(() => heard() > before, 'it is heard');
  await clock.advance(SAID_WITHIN_MS);
}

/** Waits until all checks are stored: a server is not checked again before that. */
async function answered(): Promise<void> {
  await Promise.all(checks.mock.results.map(({ value }) => value));
}

describe('a tool server', () => {
  it('that keeps notifying of changed tools is checked at once, and then once in five seconds', async () => {
    const talk = await Talk.start(service);
    await connect(service, talk, customServer('app', server));
    await listed(1);
    await announce();
    await answered();
    expect(server.listings).toBe(2);
    for (let times = 0; times < 3; times += 1) await announce();
    await answered();
    expect(server.listings).toBe(2);
    await clock.advance(ASKED_ONCE_IN_MS);
    await answered();
    expect(server.listings).toBe(3);
  });

  it('that keeps notifying does not keep an idle connection open', async () => {
    const talk = await Talk.start(service);
    const { id } = await connect(service, talk, customServer('app', server));
    const isOpen = (): boolean => service.app.get(ConnectionPool, { strict: false }).has(id);
    expect(isOpen()).toBe(true);
    for (let passed = 0; isOpen() && passed < 2 * IDLE_MS; passed += ASKED_ONCE_IN_MS) {
      await announce();
      await answered();
      await clock.advance(ASKED_ONCE_IN_MS - SAID_WITHIN_MS);
    }
    expect([isOpen(), server.listings > 2]).toEqual([false, true]);
  });

  it('without notifications is checked after five minutes by the next run, which does not wait for it', async () => {
    const talk = await Talk.start(service);
    await connect(service, talk, customServer('app', server));
    server.become([{ name: 'new' }], { announced: false });
    const offered = async (): Promise<string[]> => {
      service.models.next(says('Hi.'));
      await talk.run('Hi');
      return sentToolNames(service.models.requests.at(-1)?.body ?? {});
    };
    await offered();
    expect(server.listings).toBe(1);
    await clock.advance(LIST_TTL_MS + 1);
    expect(await offered()).toEqual(['mcp__app__look']);
    await listed(2);
    await until(async () => (await offered()).join() === 'mcp__app__new', 'the new tool is offered');
  });
});
