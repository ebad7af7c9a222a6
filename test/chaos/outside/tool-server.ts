import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { HttpServer } from './http-server.ts';

interface Request {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: { readonly arguments?: { readonly nonce?: string }; readonly protocolVersion?: string };
}

const PAY = {
  name: 'pay',
  description: 'Pays once.',
  inputSchema: { type: 'object', properties: { nonce: { type: 'string' } } },
};
const PAYING_MS = 150;

/** A tool server (streamable HTTP, without sessions) whose only tool has a side effect, which it counts. */
export class ToolServer {
  /** How often each payment was made. */
  readonly payments = new Map<string, number>();
  private server: HttpServer | undefined;

  static async start(): Promise<ToolServer> {
    const tools = new ToolServer();
    tools.server = await HttpServer.start((request, response) => tools.answer(request, response));
    return tools;
  }

  get host(): string {
    return this.server?.host ?? '';
  }

  async close(): Promise<void> {
    await this.server?.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    const { id, method, params } = JSON.parse(await text(request)) as Request;
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = await this.resultOf(method, params);
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    response.writeHead(result || method !== 'server/discover' ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }

  private async resultOf(method: string, params: Request['params']): Promise<object | undefined> {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: params?.protocolVersion ?? '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'chaos', version: '1.0.0' },
        };
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: [PAY] };
      case 'tools/call': {
        const nonce = params?.arguments?.nonce ?? '';
        this.payments.set(nonce, (this.payments.get(nonce) ?? 0) + 1);
        await sleep(PAYING_MS);
        return { content: [{ type: 'text', text: `Paid ${nonce}.` }] };
      }
      default:
        return undefined;
    }
  }
}
