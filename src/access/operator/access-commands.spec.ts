import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorKernel } from '../../../test/support/operator-kernel.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SystemClock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { runCommand } from '../../platform/command-line/index.js';
import { AuthenticateApiKey } from '../application/authenticate-api-key.js';
import { BatchedKeyLookup } from '../application/batched-key-lookup.js';
import { OrganizationDirectory } from '../application/organization-directory.js';
import { RecordKeyUse } from '../application/record-key-use.js';
import { accessSchema } from '../persistence/access.schema.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { OrganizationRepository } from '../persistence/organization.repository.js';
import { accessCommands } from './access-commands.js';

let open: TestDatabase;
let uses: RecordKeyUse;
let authenticate: AuthenticateApiKey;
let directory: OrganizationDirectory;
const clock = new SystemClock();
const events = new EventBus();

beforeAll(async () => {
  open = await openTestDatabase([accessSchema]);
  const keys = new ApiKeyRepository(open.database);
  uses = new RecordKeyUse(clock, keys);
  authenticate = new AuthenticateApiKey(clock, events, keys, new BatchedKeyLookup(clock, keys), uses);
  directory = new OrganizationDirectory(
    clock,
    events,
    new OrganizationRepository(open.database),
    new MemberRepository(open.database),
  );
});
afterAll(async () => {
  await uses.beforeApplicationShutdown();
  await open.close();
});

async function run(line: string): Promise<Record<string, string>> {
  return (await runCommand(accessCommands, operatorKernel(open, clock, events), line.split(' '))) as Record<
    string,
    string
  >;
}

describe('the operator', () => {
  it('creates an organization with its owner, a member, and working keys', async () => {
    const { id, name, ownerId } = await run(
      'org create --name Acme --plan enterprise --features hipaa,-ai_gateway --agent-limit 5',
    );
    expect(name).toBe('Acme');
    const view = await directory.find(id!);
    expect(view).toMatchObject({ plan: 'enterprise', agentLimit: 5, crawlPages: 500 });
    expect(view!.features).toEqual(new Set(['hipaa', 'session_start_hook']));

    const owners = await run(`key create --org ${id} --capabilities chat,manageAgents`);
    expect(await authenticate.execute(owners.key!)).toMatchObject({
      keyId: owners.id,
      organizationId: id,
      memberId: ownerId,
    });

    const member = await run(`member add ${id} --email ann@acme.test --role member`);
    const agentId = newId();
    const hers = await run(`key create --org ${id} --capabilities chat --agents ${agentId} --member ${member.id}`);
    const principal = await authenticate.execute(hers.key!);
    expect(principal).toMatchObject({ memberId: member.id, agentIds: new Set([agentId]) });
  });

  it('changes an organization, and the service applies the change at once', async () => {
    const { id } = await run('org create --name Acme');
    await directory.find(id!);
    await run(`org set ${id} --plan team --features -session_start_hook --agent-limit 2`);
    expect(await directory.find(id!)).toMatchObject({ plan: 'team', agentLimit: 2, features: new Set() });
    await run(`org set ${id} --agent-limit none --crawl-pages 20`);
    expect(await directory.find(id!)).toMatchObject({
      plan: 'team',
      agentLimit: null,
      crawlPages: 20,
      features: new Set(),
    });
  });

  it('sets the credits of a month, and what happens when they are used up', async () => {
    const { id } = await run('org create --name Acme --credits 500');
    expect(await directory.find(id!)).toMatchObject({ creditsIncluded: 500, creditsExhausted: 'allow' });
    expect(await run(`org set ${id} --credits-exhausted block`)).toMatchObject({
      creditsIncluded: 500,
      creditsExhausted: 'block',
    });
    await run(`org set ${id} --credits none`);
    expect(await directory.find(id!)).toMatchObject({ creditsIncluded: null, creditsExhausted: 'block' });
    const allowances = await new OrganizationRepository(open.database).allowances(id!);
    expect(allowances.map(({ included }) => included)).toEqual([500, null]);
  });

  it('revokes a key, which the service then refuses', async () => {
    const { id } = await run('org create --name Acme');
    const { id: keyId, key } = await run(`key create --org ${id} --capabilities chat`);
    await authenticate.execute(key!);
    await run(`key revoke ${keyId}`);
    await expect(authenticate.execute(key!)).rejects.toMatchObject({ code: 'api_key_invalid' });
    await expect(run(`key revoke ${keyId}`)).rejects.toThrow(/no API key/);
  });

  it.each([
    ['org create', /--name is required/],
    ['org create --name A --plan gold', /plan: must be one of free/],
    ['org create --name A --agent-limit many', /--agent-limit/],
    ['org create --name A --agent-limit 9999999999', /agentLimit/],
    ['org create --name A --crawl-pages none', /--crawl-pages: must be a whole number/],
    ['org create --name A --crawl-pages 0', /crawlPages: must be a whole number from 1 to 50000/],
    ['org create --name A --credits some', /--credits: must be a whole number, or none/],
    ['org create --name A --credits 9999999999', /creditsIncluded: must be a whole number from 0 to 2147483647/],
    ['org create --name A --credits-exhausted stop', /creditsExhausted: must be one of allow, block/],
    ['org set nobody --plan free', /'nobody' is not an id/],
    [`org set ${newId()} --plan free`, /There is no organization/],
    [`member add ${newId()} --email a@b --role owner`, /There is no organization/],
    [`key create --org ${newId()} --capabilities chat`, /There is no organization/],
    [`key create --org ${newId()}`, /--capabilities is required/],
    [`key revoke ${newId()}`, /There is no API key/],
  ])('gets an error message for: %s', async (line, message) => {
    await expect(run(line)).rejects.toThrow(message);
  });

  it('cannot give a key to a member of another organization', async () => {
    const { id } = await run('org create --name Acme');
    const { ownerId: stranger } = await run('org create --name Other');
    await expect(run(`key create --org ${id} --capabilities chat --member ${stranger}`)).rejects.toThrow(/no member/);
  });
});
