import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Canary } from '../../../test/support/canary.js';
import { ToolConnections } from '../../../test/support/tool-connections.js';
import type { TokenSource } from './mcp-endpoint.js';
import { McpFailure } from './mcp-failure.js';

const connections = new ToolConnections();
let server: Canary;
/** The token that the server accepts. */
let accepted: string;
let refusal: { status: number; challenge: string };

beforeEach(async () => {
  accepted = 'new';
  refusal = { status: 401, challenge: 'Bearer resource_metadata="http://x/.well-known"' };
  server = await Canary.start((request, response) => {
    if (request.headers.authorization !== `Bearer ${accepted}`) {
      response.writeHead(refusal.status, { 'www-authenticate': refusal.challenge }).end();
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { id, method } = JSON.parse(body || '{}') as { id?: unknown; method?: string };
      if (id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const known = method === 'initialize' || method === 'tools/call';
      const initialized = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      };
      const result = method === 'initialize' ? initialized : { content: [{ type: 'text', text: 'done' }] };
      response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          known ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'No' } },
        ),
      );
    });
  });
});

afterEach(async () => {
  await connections.close();
  await server.close();
});

class Grant implements TokenSource {
  readonly replaced: (string | null)[][] = [];

  constructor(
    public token: string,
    private readonly next?: string,
  ) {}

  async current(): Promise<string> {
    return this.token;
  }

  async replace(rejected: string, challenge: string | null): Promise<string> {
    this.replaced.push([rejected, challenge]);
    if (this.next === undefined) throw new McpFailure('needs_authorization', 'The grant is gone.');
    this.token = this.next;
    return this.next;
  }
}

const open = (tokens?: TokenSource) =>
  connections.open({
    url: `${server.url}/mcp`,
    headers: { 'X-Team': 'blue', Accept: 'nothing' },
    ...(tokens && { tokens }),
  });
const call = (connection: Awaited<ReturnType<typeof open>>) =>
  connection.callTool({ name: 'x', input: {}, meta: {} }, new AbortController().signal);

describe('the tokens for a server', () => {
  it('are sent with every request, together with the headers of the integration', async () => {
    await call(await open(new Grant('new')));
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer new', 'x-team': 'blue' });
      expect(headers.accept).toContain('application/json');
    }
  });

  it('are replaced when the server refuses one, and the request is sent again', async () => {
    const grant = new Grant('old', 'new');
    const connection = await open(grant);
    await Promise.all([call(connection), call(connection), call(connection)]);
    expect(grant.replaced).toEqual([['old', refusal.challenge]]);
    accepted = 'newest';
    await expect(call(connection)).rejects.toMatchObject({ reason: 'needs_authorization' });
    expect(grant.replaced).toHaveLength(2);
  });

  it('are replaced with the challenge if their scope is too small', async () => {
    refusal = { status: 403, challenge: 'Bearer error="insufficient_scope", scope="files:write"' };
    const grant = new Grant('old');
    await expect(open(grant)).rejects.toMatchObject({ reason: 'needs_authorization', message: 'The grant is gone.' });
    expect(grant.replaced).toEqual([['old', refusal.challenge]]);
  });

  it('are reported as missing if there are none', async () => {
    await expect(open()).rejects.toMatchObject({ reason: 'needs_authorization' });
    refusal = { status: 403, challenge: 'Basic' };
    await expect(open()).rejects.toMatchObject({
      reason: 'needs_authorization',
      message: expect.stringContaining('403'),
    });
    await expect(open(new Grant('old'))).rejects.toMatchObject({
      reason: 'unreachable',
      message: 'The server answered with HTTP status 403.',
    });
  });
});
