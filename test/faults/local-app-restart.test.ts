import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { anthropicWire } from '../support/provider-wire.js';
import { calls, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { ServiceClient } from './service-client.js';

// It starts processes.
let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let client: ServiceClient;
let key = '';

async function start(): Promise<void> {
  // One process: only one service may use an app that stores data.
  const one = { DATA_DIR: data.path, REDIS_URL: '' };
  service = await ServiceProcess.start({ environment: { ...models.environment, ...environment.variables, ...one } });
  key ||= service.firstKey ?? '';
  client = new ServiceClient(service, key);
}

beforeAll(async () => {
  [models, environment, data] = await Promise.all([ScriptedModels.start(), modeEnvironment(), dataFolder()]);
  await start();
});
afterAll(async () => {
  await service.kill();
  await models.close();
  await environment.close();
  data.remove();
});

/** The tool's result in a separate run. */
async function answerOf(agentId: string, tool: string, input: object): Promise<string> {
  const thread = await client.call<{ id: string }>('POST', '/v1/threads', { assistant_id: agentId });
  models.next(calls(tool, input), says('Done.'));
  await client.call('POST', `/v1/threads/${thread.id}/runs`, { message: { role: 'user', content: 'Go' } });
  return anthropicWire.toolResults(models.requests.at(-1)?.body ?? {}).at(-1)?.output ?? '';
}

it('a local app keeps what it stored after the service was stopped, and after it was killed', async () => {
  const agent = await client.call<{ id: string }>('POST', '/v1/agents', {
    name: 'Helper',
    provider: { type: 'anthropic' },
  });
  const made = await client.call<{ status: string }>('POST', `/v1/agents/${agent.id}/tool-integrations`, {
    type: 'managed-mcp',
    app: 'memory',
  });
  expect(made.status).toBe('connected');
  const remember = (name: string): Promise<string> =>
    answerOf(agent.id, 'mcp__memory__create_entities', {
      entities: [{ name, entityType: 'person', observations: [] }],
    });
  await remember('Ada');

  service.signal('SIGTERM');
  await service.ended();
  await start();
  expect(await answerOf(agent.id, 'mcp__memory__read_graph', {})).toContain('Ada');
  await remember('Grace');

  await service.kill();
  await start();
  const graph = await answerOf(agent.id, 'mcp__memory__read_graph', {});
  expect(graph).toContain('Ada');
  expect(graph).toContain('Grace');
});
