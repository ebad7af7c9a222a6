import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { calls, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { catalogueOf } from '../../support/tool-catalogue.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { type ServedTool, ToolServer } from '../../support/tool-server.js';

const COUNT = 400;
const service = useService({ egressAllow: new LoopbackPorts() });
let server: ToolServer;

/** The server's own names show that the tools belong to several systems. */
const TOOLS = catalogueOf(COUNT).map(({ definition: { name, description, inputSchema } }): ServedTool => {
  return { name: name.replace('mcp__', ''), description, inputSchema: { type: 'object', ...inputSchema } };
});
const WANTED = 'mcp__suite__billing__create_report';

beforeAll(async () => {
  server = await ToolServer.start('streamableHttp', ...TOOLS);
});
afterAll(() => server.close());

const charactersOf = (value: unknown): number => JSON.stringify(value).length;

it('a model searches 400 tools of a server, and the run costs under 15% of sending them all', async () => {
  const talk = await Talk.start(service);
  expect((await connect(service, talk, customServer('suite', server))).tools).toHaveLength(COUNT);
  service.models.next(
    calls('find_tools', { query: 'create a billing report' }),
    calls(WANTED, { workspace: 'w', title: 'May' }),
    says('Done.'),
  );

  const { body } = await talk.run('Create the report for May');

  expect(body.message).toMatchObject({
    content: 'Done.',
    toolCalls: [{ name: 'find_tools' }, { name: WANTED, status: 'completed' }],
  });
  expect(server.calls).toMatchObject([{ name: 'billing__create_report', input: { workspace: 'w', title: 'May' } }]);
  const { requests } = service.models;
  expect(sentToolNames(requests[0]?.body ?? {})).toEqual(['find_tools']);
  expect(sentToolNames(requests[2]?.body ?? {})).toContain(WANTED);

  const sent = requests.reduce((sum, request) => sum + charactersOf(request.body), 0);
  // The same requests with a definition of every tool, each as this provider was sent those that were found.
  const definitions = TOOLS.map(({ name, description, inputSchema }) => ({
    name: `mcp__suite__${name}`,
    description,
    input_schema: inputSchema,
  }));
  expect(requests[2]?.body['tools']).toContainEqual(
    expect.objectContaining({ ...definitions.find(({ name }) => name === WANTED) }),
  );
  const listing = requests.reduce((sum, { body: asked }) => sum + charactersOf({ ...asked, tools: definitions }), 0);
  expect(sent / listing).toBeLessThan(0.15);
});
