import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Canary } from '../../support/canary.js';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { customMcp, Integrations } from './support.js';

const service = useService({ egressAllow: new LoopbackPorts() });
let server: Canary;

beforeEach(async () => {
  server = await Canary.start((request, response) => {
    const key = request.headers.authorization?.replace('Bearer ', '');
    const error = { code: -32_000, message: `Invalid API key: ${key} for team ${String(request.headers['x-team'])}` };
    void text(request).then((body) => {
      const { id } = JSON.parse(body) as { id?: unknown };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    });
  });
});
afterEach(() => server.close());

describe('a secret that a server repeats without its scheme', () => {
  it('is not in the error of the integration', async () => {
    const integrations = await Integrations.start(service);
    const httpHeaders = {
      Authorization: { type: 'secret', value: 'Bearer SEKRET-CANARY-3' },
      'X-Team': { type: 'plain_text', value: 'support' },
    };
    const auth = { type: 'static', headerKey: 'Authorization' };
    const { text: answer, body } = await integrations.create(
      customMcp({ url: `${server.url}/mcp`, auth, httpHeaders }),
    );
    expect(server.requests[0]?.headers.authorization).toBe('Bearer SEKRET-CANARY-3');
    expect(body.error).toBe('The server answered with an error: Invalid API key: [redacted] for team support');
    expect(answer).not.toContain('SEKRET');
  });
});
