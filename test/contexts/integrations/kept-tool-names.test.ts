import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { HookServer } from '../../support/hook-server.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { answers, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { statementsOf } from '../../support/statements.js';
import { Talk } from '../../support/talk.js';
import { changeIntegration, connect, customServer, removeIntegration } from '../../support/tool-integrations.js';
import { type ServedTool, ToolServer } from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });
const WIPE = 'mcp__crm__wipe';
const WITH_HASH = /^mcp__crm__wipe_[0-9a-f]{8}$/;

let started: { close(): Promise<unknown> }[];
let talk: Talk;
beforeEach(async () => {
  started = [];
  talk = await Talk.start(service);
});
afterEach(() => Promise.all(started.map((server) => server.close())));

async function serve(...tools: ServedTool[]): Promise<ToolServer> {
  const server = await ToolServer.start('streamableHttp', ...tools);
  started.push(server);
  return server;
}

/** The names of the integration tools that a run is offered. */
async function offered(at = talk): Promise<string[]> {
  service.models.next(says('Hello.'));
  await at.run('Hi');
  return offeredLast();
}

function offeredLast(): string[] {
  return sentToolNames(service.models.requests.at(-1)?.body ?? {}).filter((name) => name.startsWith('mcp__'));
}

/** Removes the names from the agent's attachments, as an earlier release stores them. */
async function forgetNames(): Promise<void> {
  await service.database.query('update tool_integration_agents set tool_names = null where agent_id = $1', [
    talk.agentId,
  ]);
}

describe('the name of a tool that an agent was offered', () => {
  it('stays when an integration of the same slug is added, so that a fail-closed guard of the exact name denies its calls', async () => {
    const guard = await HookServer.start();
    started.push(guard);
    const hook = {
      type: 'http',
      url: guard.url('/guard', () => ({ decision: 'block', reason: 'Never.' })),
      failClosed: true,
    };
    const hooks = { PreToolUse: [{ matcher: WIPE, hooks: [hook] }] };
    expect(
      (await service.http('PUT', `/v1/agents/${talk.agentId}/hooks`, { key: talk.key, body: { hooks } })).status,
    ).toBe(200);
    const [mine, theirs] = [await serve({ name: 'wipe' }), await serve({ name: 'wipe' })];
    await connect(service, talk, customServer('crm', mine));
    expect(await offered()).toEqual([WIPE]);

    await connect(service, talk, customServer('CRM', theirs));
    const [first, second = ''] = await offered();
    expect([first, second]).toEqual([WIPE, expect.stringMatching(WITH_HASH)]);

    service.models.next(
      answers({
        calls: [
          { id: 'a', name: WIPE },
          { id: 'b', name: second },
        ],
      }),
      says('Done.'),
    );
    const { body } = await talk.run('Wipe');
    expect(body.message?.toolCalls?.map(({ status }) => status)).toEqual(['denied', 'completed']);
    expect([mine.calls.length, theirs.calls.length]).toEqual([0, 1]);
  });

  it('belongs to the integration that was attached first if no run came in between', async () => {
    const [mine, theirs] = [await serve({ name: 'wipe' }), await serve({ name: 'wipe' })];
    await connect(service, talk, customServer('CRM', theirs));
    await connect(service, talk, customServer('crm', mine));
    const [first = '', second = ''] = await offered();
    expect([first, second]).toEqual([WIPE, expect.stringMatching(WITH_HASH)]);
    service.models.next(answers({ calls: [{ id: 'a', name: first }] }), says('Done.'));
    await talk.run('Wipe');
    expect([theirs.calls.length, mine.calls.length]).toEqual([1, 0]);
  });

  it('is removed with its attachment: an integration that is attached again takes a free name', async () => {
    const server = await serve({ name: 'wipe' });
    const mine = await connect(service, talk, customServer('crm', server));
    await offered();
    const theirs = await connect(service, talk, customServer('CRM', server));
    const [, hashed = ''] = await offered();
    await removeIntegration(service, talk, mine.id);
    expect(await offered()).toEqual([hashed]);
    await connect(service, talk, customServer('crm', server));
    expect(await offered()).toEqual([hashed, WIPE]);
    await removeIntegration(service, talk, theirs.id);
    expect(await offered()).toEqual([WIPE]);
  });

  it('belongs to one agent: agents that share an integration do not change each other’s names', async () => {
    const [mine, theirs] = [await serve({ name: 'wipe' }), await serve({ name: 'wipe' })];
    const other = await talk.withAnotherAgent();
    for (const [at, apps] of [
      [talk, ['crm', 'CRM']],
      [other, ['CRM', 'crm']],
    ] as const) {
      for (const app of apps) await connect(service, at, customServer(app, app === 'crm' ? mine : theirs));
      expect(await offered(at)).toEqual([WIPE, expect.stringMatching(WITH_HASH)]);
      service.models.next(answers({ calls: [{ id: 'a', name: WIPE }] }), says('Done.'));
      await at.run('Wipe');
    }
    expect([mine.calls.length, theirs.calls.length]).toEqual([1, 1]);
  });

  it('is the same when its server lists the tool again; a tool that got a hash meanwhile keeps it', async () => {
    const server = await serve({ name: 'rows.read' });
    const { id } = await connect(service, talk, customServer('sheet', server));
    expect(await offered()).toEqual(['mcp__sheet__rows_read']);
    /** Changes the tools, and the integration, so that the service checks the server at once. */
    const listed = async (...names: string[]): Promise<string[]> => {
      server.become(
        names.map((name) => ({ name })),
        { announced: false },
      );
      await changeIntegration(
        service,
        talk,
        id,
        customServer('sheet', server, { excludedTools: [`none-of-${names.length}`] }),
      );
      return offered();
    };
    const [hashed] = await listed('rows_read');
    expect(hashed).toMatch(/^mcp__sheet__rows_read_[0-9a-f]{8}$/);
    expect(await listed('rows_read', 'rows.read')).toEqual(['mcp__sheet__rows_read', hashed]);
  });

  it('is kept while the tool is excluded; a tool that was always excluded has none', async () => {
    const server = await serve({ name: 'wipe' });
    const [without, withAll] = [{ excludedTools: ['wipe'] }, { excludedTools: [] }];
    const mine = await connect(service, talk, customServer('crm', server, without));
    const theirs = await connect(service, talk, customServer('CRM', server));
    expect(await offered()).toEqual([WIPE]);
    await changeIntegration(service, talk, mine.id, customServer('crm', server, withAll));
    const [hashed = ''] = await offered();
    expect(hashed).toMatch(WITH_HASH);

    await changeIntegration(service, talk, theirs.id, customServer('CRM', server, without));
    expect(await offered()).toEqual([hashed]);
    await changeIntegration(service, talk, theirs.id, customServer('CRM', server, withAll));
    expect(await offered()).toEqual([hashed, WIPE]);
  });

  it('is the same in all processes, even if several offer a new tool at once', async () => {
    const server = await serve({ name: 'wipe' }, { name: 'w.ipe' }, { name: 'w_ipe' });
    for (const app of ['crm', 'CRM', 'Crm']) await connect(service, talk, customServer(app, server));
    const replicas = [await service.replica(), await service.replica()];
    started.push(...replicas);
    const talks = await Promise.all([service, ...replicas, service].map(async (at) => (await talk.another()).on(at)));
    service.models.reset();
    service.models.next(...talks.map(() => says('Hello.')));
    await Promise.all(talks.map((each) => each.run('Hi')));

    const [first = [], ...others] = service.models.requests.map(({ body }) => sentToolNames(body));
    expect(others).toHaveLength(3);
    for (const names of others) expect(names).toEqual(first);
    expect(new Set(first).size).toBe(first.length);
    expect(await offered()).toEqual(first.filter((name) => name.startsWith('mcp__')));
  });

  it('needs no further statement once a process has offered the tool', async () => {
    await connect(service, talk, customServer('crm', await serve({ name: 'wipe' })));
    const ofNames = async (): Promise<number> => {
      const statements = await statementsOf(service.database, () => offered());
      return statements.filter((sql) => sql.includes('tool_names')).length;
    };
    expect(await ofNames()).toBeGreaterThan(0);
    expect(await ofNames()).toBe(0);
  });
});

describe('tools of attachments without stored names', () => {
  it('keep their names: both tools of a pair keep their hash, even if one of them is removed', async () => {
    const server = await serve({ name: 'wipe' }, { name: 'look' });
    const mine = await connect(service, talk, customServer('crm', server, { excludedTools: ['look'] }));
    await connect(service, talk, customServer('CRM', server));
    await forgetNames();
    const names = await offered();
    expect(names).toEqual([expect.stringMatching(WITH_HASH), 'mcp__crm__look', expect.stringMatching(WITH_HASH)]);
    expect(new Set(names).size).toBe(3);
    await removeIntegration(service, talk, mine.id);
    expect(await offered()).toEqual(names.slice(1));
  });

  it('keep their names when another integration is attached before the next run', async () => {
    const [mine, theirs] = [await serve({ name: 'wipe' }), await serve({ name: 'wipe' })];
    await connect(service, talk, customServer('crm', mine));
    await forgetNames();
    await connect(service, talk, customServer('CRM', theirs));
    expect(await offered()).toEqual([WIPE, expect.stringMatching(WITH_HASH)]);
  });
});
