import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConnectionPool } from '../../../src/integrations/mcp/connection-pool.js';
import { startService, type TestService, until } from '../../support/harness.js';
import { LyingToolServer } from '../../support/lying-tool-server.js';
import { ManualClock } from '../../support/manual-clock.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import { addIntegration, customServer, removeIntegration } from '../../support/tool-integrations.js';

let clock: ManualClock;
let server: LyingToolServer;
let service: TestService;
let replica: TestService;

beforeAll(async () => {
  server = await LyingToolServer.start('none');
  clock = new ManualClock();
  service = await startService({ clock, environment: { EGRESS_ALLOW: `127.0.0.1:${server.port}` } });
  replica = await service.replica();
});
beforeEach(() => service.models.reset());
afterAll(async () => {
  await replica.close();
  await service.close();
  await server.close();
});

/** Without the requests that open streams and end sessions, which come at any time. */
function questions(): number {
  return server.requests.filter(({ httpMethod }) => httpMethod === 'POST').length;
}

describe('an integration that another process has removed', () => {
  it('is disconnected by this one within seconds, and not connected again', async () => {
    const talk = await Talk.start(service);
    const { id } = await addIntegration(
      service,
      talk,
      customServer('Gone', { url: server.url, transportType: 'streamableHttp' }),
    );
    service.models.next(calls('mcp__gone__echo', {}), says('Done.'));
    await talk.on(replica).run('Go');
    const pool = replica.app.get(ConnectionPool, { strict: false });
    expect(pool.integrationIds).toEqual([id]);

    await removeIntegration(service, talk, id);
    await until(async () => {
      await clock.advance(1_000);
      return pool.size === 0;
    }, 'the connection is closed');
    const asked = questions();
    await clock.advance(60_000);
    service.models.next(says('Done.'));
    await talk.on(replica).run('Go');
    expect(questions()).toBe(asked);
  });
});
