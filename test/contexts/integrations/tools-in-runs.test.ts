import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EverythingServer, startEverything } from '../../support/everything-server.js';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { changeIntegration, connect, customServer } from '../../support/tool-integrations.js';
import { ToolServer } from '../../support/tool-server.js';

const service = useService({ egressAllow: new LoopbackPorts() });
let servers: readonly EverythingServer[];
let modern: ToolServer;

beforeAll(async () => {
  [servers, modern] = await Promise.all([
    Promise.all([startEverything('streamableHttp'), startEverything('sse')]),
    ToolServer.start('modern', { name: 'echo' }, { name: 'get-sum' }, { name: 'get-env' }),
  ]);
});
afterAll(() => Promise.all([...servers, modern].map((server) => server.close())));

const KINDS = [
  'the reference server over streamable HTTP',
  'the reference server over SSE',
  'a server of 2026-07-28',
] as const;

function serverOf(kind: (typeof KINDS)[number]): Parameters<typeof customServer>[1] {
  const index = KINDS.indexOf(kind);
  return index === 2
    ? modern
    : { url: servers[index]?.url ?? '', transportType: index === 1 ? 'sse' : 'streamableHttp' };
}

/** The tools of the integration in a request, by the server's own names. */
function offered(request: number): string[] {
  const names = sentToolNames(service.models.requests[request]?.body ?? {});
  expect(names.every((name) => name.startsWith('mcp__our-tools__'))).toBe(true);
  return names.map((name) => name.replace('mcp__our-tools__', ''));
}

function toolResults(): { output: string; isError: boolean }[] {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

describe.each(KINDS)('%s', (kind) => {
  it('is connected as soon as it is created, and a run calls its tools', async () => {
    const talk = await Talk.start(service);
    const integration = await connect(service, talk, customServer('Our tools', serverOf(kind)));
    const listed = integration.tools.map(({ name }) => name);
    expect(listed).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-env']));

    service.models.next(calls('mcp__our-tools__echo', { message: 'hello there' }), says('It echoes.'));
    const { status, body } = await talk.run('Echo');

    expect([status, body.message?.content]).toEqual([200, 'It echoes.']);
    expect(offered(0).sort()).toEqual([...listed].sort());
    expect(toolResults()).toMatchObject([{ output: expect.stringContaining('hello there'), isError: false }]);
    expect(body.message?.toolCalls).toMatchObject([
      { name: 'mcp__our-tools__echo', status: 'completed', output: expect.stringContaining('hello there') },
    ]);
    expect((await talk.trace()).steps).toContainEqual(
      expect.objectContaining({ type: 'tool', name: 'mcp__our-tools__echo', error: null }),
    );
  });

  it('can have excluded tools: they are neither offered nor called, and a change applies to the next run', async () => {
    const talk = await Talk.start(service);
    const body = (excludedTools: string[]) => customServer('Our tools', serverOf(kind), { excludedTools });
    const { id, tools } = await connect(service, talk, body(['echo', 'get-env']));
    expect(
      tools
        .filter(({ excluded }) => excluded)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['echo', 'get-env']);

    service.models.next(calls('mcp__our-tools__echo', { message: 'hello there' }), says('Alas.'));
    await talk.run('Echo');
    expect(offered(0)).toHaveLength(tools.length - 2);
    expect(toolResults()).toMatchObject([
      { output: expect.stringContaining('no tool named mcp__our-tools__echo'), isError: true },
    ]);
    if (kind === 'a server of 2026-07-28') expect(modern.calls.map(({ name }) => name)).toEqual(['echo']);

    await changeIntegration(service, talk, id, body(['get-sum']));
    service.models.reset();
    service.models.next(calls('mcp__our-tools__echo', { message: 'and again' }), says('It echoes.'));
    await talk.run('Echo');
    expect(offered(0)).toEqual(expect.arrayContaining(['echo', 'get-env']));
    expect(offered(0)).not.toContain('get-sum');
    expect(toolResults().at(-1)).toMatchObject({ output: expect.stringContaining('and again'), isError: false });
  });
});
