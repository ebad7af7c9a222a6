import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { sentResults } from '../../support/sent-media.js';
import { Talk } from '../../support/talk.js';
import { connect, customServer } from '../../support/tool-integrations.js';
import { type ServedTool, TOOL_SERVER_KINDS, ToolServer, type ToolServerKind } from '../../support/tool-server.js';

// Each appears only in the requests to the model.
const PNG = 'iVBORw0KGgoCANARYpng';
const PDF = 'JVBERi0CANARYpdf';
const WAV = 'UklGRgCANARYwave';
const ZIP = 'UEsDBACANARYzips';
const CANARY = /CANARY/;

/** By the name of the tool, in the order in which they are called. */
const CONTENT: Readonly<Record<string, NonNullable<ServedTool['run']>>> = {
  text: () => ({
    content: [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ],
  }),
  image: () => ({
    content: [
      { type: 'text', text: 'A chart:' },
      { type: 'image', mimeType: 'image/png', data: PNG },
    ],
  }),
  audio: () => ({ content: [{ type: 'audio', mimeType: 'audio/wav', data: WAV }] }),
  note: () => ({
    content: [{ type: 'resource', resource: { uri: 'file:///note.md', mimeType: 'text/markdown', text: '# Note' } }],
  }),
  report: () => ({
    content: [{ type: 'resource', resource: { uri: 'file:///report.pdf', mimeType: 'application/pdf', blob: PDF } }],
  }),
  archive: () => ({
    content: [{ type: 'resource', resource: { uri: 'file:///all.zip', mimeType: 'application/zip', blob: ZIP } }],
  }),
  link: () => ({
    content: [{ type: 'resource_link', uri: 'https://example.com/doc', name: 'Handbook', mimeType: 'text/html' }],
  }),
  structured: () => ({ content: [], structuredContent: { degrees: 21, sky: ['clear'] } }),
  repeated: () => ({
    content: [{ type: 'text', text: '{"sky": ["clear"], "degrees": 21}' }],
    structuredContent: { degrees: 21, sky: ['clear'] },
  }),
  nothing: () => ({ content: [] }),
  refused: () => ({ content: [{ type: 'text', text: 'There is no such city.' }], isError: true }),
};

const TEXTS: Readonly<Record<string, string>> = {
  text: 'one\n\ntwo',
  image: 'A chart:\n\n[image-2 (image/png) is part of this result.]',
  note: 'Resource "file:///note.md":\n# Note',
  report: '[resource-1.pdf of "file:///report.pdf" (application/pdf) is part of this result.]',
  archive: '[resource-1 of "file:///all.zip" of type "application/zip", which cannot be shown, is left out.]',
  link: 'Link to resource "https://example.com/doc": Handbook, text/html',
  structured: '{"degrees":21,"sky":["clear"]}',
  repeated: '{"sky": ["clear"], "degrees": 21}',
  nothing: 'The tool returned nothing.',
};

const NAMES = Object.keys(CONTENT);
const service = useService({ egressAllow: new LoopbackPorts() });
let servers: readonly ToolServer[];

beforeAll(async () => {
  const tools = NAMES.map((name): ServedTool => ({ name, run: (input) => CONTENT[name]?.(input) ?? { content: [] } }));
  servers = await Promise.all(TOOL_SERVER_KINDS.map((kind) => ToolServer.start(kind, ...tools)));
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

describe.each(AGENT_WIRES)('the results of a server’s tools, on $provider', (wire) => {
  async function start(kind: ToolServerKind): Promise<Talk> {
    const server = servers.find((each) => each.kind === kind);
    if (!server) throw new Error('There is no such server');
    const talk = await Talk.start(service, { provider: { type: wire.provider, model: wire.model } });
    await connect(service, talk, customServer('all', server));
    return talk;
  }

  it.each(TOOL_SERVER_KINDS)('are errors for the model if the server says so (%s)', async (kind) => {
    const talk = await start(kind);
    service.models.next(calls('mcp__all__refused'), says('Sorry.'));
    await talk.run('Go');
    const results = wire.toolResults(service.models.requests.at(-1)?.body ?? {});
    expect(results).toMatchObject([{ output: 'There is no such city.', isError: true }]);
  });

  it.each(TOOL_SERVER_KINDS)(
    'reach the model in the form that it accepts, and clients and storage as text (%s)',
    async (kind) => {
      const talk = await start(kind);
      service.models.next(
        answers({ calls: NAMES.map((name) => ({ id: name, name: `mcp__all__${name}` })) }),
        says('Seen.'),
      );

      const events = await talk.streamed('Show me all');

      const body = service.models.requests.at(-1)?.body ?? {};
      const results = new Map(sentResults(body).map((result) => [result.id, result]));
      expect([...results.keys()]).toEqual(NAMES);
      for (const [name, text] of Object.entries(TEXTS)) expect([name, results.get(name)?.text]).toEqual([name, text]);
      expect(results.get('image')?.media).toEqual([{ mediaType: 'image/png', data: PNG }]);
      expect(results.get('report')?.media).toEqual([{ mediaType: 'application/pdf', data: PDF }]);
      // Only this provider accepts sound; the others get a note.
      expect(JSON.stringify(body).includes(WAV)).toBe(wire.api === 'gemini');
      expect(results.get('audio')?.text).toContain('audio-1');
      expect(JSON.stringify(body)).not.toContain(ZIP);
      expect(results.get('refused')?.text).toContain('There is no such city.');

      const [, message] = await talk.messages();
      const trace = await talk.trace();
      const shown = events
        .filter(({ event }) => event.type === 'TOOL_CALL_RESULT')
        .map(({ event }) => event['content']);
      expect(shown.slice(0, 2)).toEqual([TEXTS['text'], TEXTS['image']]);
      expect(message?.toolCalls?.[1]).toMatchObject({ output: TEXTS['image'], status: 'completed' });
      expect(message?.toolCalls?.at(-1)).toMatchObject({ output: 'There is no such city.', status: 'failed' });
      expect(trace.steps).toContainEqual(
        expect.objectContaining({ name: 'mcp__all__refused', error: 'There is no such city.' }),
      );
      expect(JSON.stringify([events, message, trace, await talk.storedRows()])).not.toMatch(CANARY);
    },
  );
});
