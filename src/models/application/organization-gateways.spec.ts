import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { statementsOf } from '../../../test/support/statements.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { accessContext, type OrganizationDirectory } from '../../access/index.js';
import { readSettings } from '../../platform/config/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { MasterKey, MasterKeys, Vault, vaultSchema } from '../../platform/vault/index.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { modelsSchema } from '../persistence/models.schema.js';
import { OrganizationGateways } from './organization-gateways.js';
import { RemoveOrganizationGateway } from './remove-organization-gateway.js';
import { SetOrganizationGateway } from './set-organization-gateway.js';

const BASE = 'https://gateway.test/v1';
const GATEWAY = { edgeAccountId: 'acc', gatewayName: 'main', token: 't1' };

/** The use cases of one process; several share a database. */
function processOn({ database }: TestDatabase, key: MasterKey) {
  const clock = new ManualClock();
  const events = new EventBus();
  const gateways = new GatewayRepository(database, new Vault(database, MasterKeys.of(key), clock));
  const view = { features: new Set(['ai_gateway']) };
  const organizations = { find: () => Promise.resolve(view) } as unknown as OrganizationDirectory;
  const settings = readSettings({ GATEWAY_BASE_URL: BASE }, { role: 'all', demo: false });
  const directory = new OrganizationGateways(gateways, organizations, settings, clock, events);
  return {
    clock,
    directory,
    set: new SetOrganizationGateway(database, gateways, directory, clock, events),
    remove: new RemoveOrganizationGateway(database, gateways, events),
  };
}

let open: TestDatabase;
let here: ReturnType<typeof processOn>;
let elsewhere: ReturnType<typeof processOn>;
let organizationId: string;

beforeAll(async () => {
  open = await openTestDatabase([vaultSchema, accessContext.schema, modelsSchema]);
});

afterAll(async () => {
  await open.close();
});

beforeEach(async () => {
  const key = new MasterKey(randomBytes(32));
  here = processOn(open, key);
  elsewhere = processOn(open, key);
  organizationId = newId();
  await open.database.query(
    `insert into organizations (id, name, plan, features, created_at) values ($1, 'Any', 'enterprise', '{}', now())`,
    [organizationId],
  );
});

const CLAUDE = { type: 'anthropic', model: 'claude-haiku-4-5' } as const;

async function routes(): Promise<(string | undefined)[]> {
  const found = await Promise.all([here, elsewhere].map(({ directory }) => directory.routeFor(organizationId, CLAUDE)));
  return found.map((route) => route && `${route.baseUrl} ${route.headers['cf-aig-authorization'] ?? ''}`);
}

describe('the gateway of an organization', () => {
  const first = `${BASE}/acc/main/anthropic Bearer t1`;
  const second = `${BASE}/acc/other/anthropic Bearer t2`;

  it('takes effect at once in the process that sets it, and within five seconds in others', async () => {
    expect(await routes()).toEqual([undefined, undefined]);
    await here.set.execute(organizationId, GATEWAY);
    expect(await routes()).toEqual([first, undefined]);
    await elsewhere.clock.advance(5_000);
    expect(await routes()).toEqual([first, first]);
    await here.set.execute(organizationId, { ...GATEWAY, gatewayName: 'other', token: 't2' });
    expect(await routes()).toEqual([second, first]);
    await elsewhere.clock.advance(5_000);
    expect(await routes()).toEqual([second, second]);
    await here.remove.execute(organizationId);
    expect(await routes()).toEqual([undefined, second]);
    await elsewhere.clock.advance(5_000);
    expect(await routes()).toEqual([undefined, undefined]);
  });

  it('is read from the cache, and so is its absence', async () => {
    const ask = async (): Promise<unknown> => [await routes(), await here.directory.findEffective(organizationId)];
    await ask();
    expect(await statementsOf(open.database, ask)).toEqual([]);
    await here.set.execute(organizationId, GATEWAY);
    await ask();
    expect(await statementsOf(open.database, ask)).toEqual([]);
  });

  it('fails the call if its token is missing, rather than bypass the gateway', async () => {
    await here.set.execute(organizationId, GATEWAY);
    await open.database.query('delete from secrets where organization_id = $1', [organizationId]);
    await expect(here.directory.routeFor(organizationId, CLAUDE)).rejects.toThrow('There is no secret');
  });
});
