import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TestService } from '../support/harness.js';
import { PageServer } from './page-server.js';

interface RelayOptions {
  readonly key: string;
  readonly agentId: string;
}

/** A customer's site that relays `/relay/v1/*` to the service with its key, under a policy that allows little. */
export class RelaySite extends PageServer {
  /** The requests that were relayed, with their method. */
  readonly relayed: string[] = [];
  /** Makes the relay refuse the next uploads with this status. */
  refusedUploads: number | null = null;
  /** The relay answers no upload before this has resolved. */
  uploadsHeld: Promise<void> = Promise.resolve();
  /** Uploads that the browser has broken off. */
  brokenUploads = 0;

  private constructor(
    private readonly service: TestService,
    private readonly options: RelayOptions,
  ) {
    super();
    this.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  static start(service: TestService, options: RelayOptions): Promise<RelaySite> {
    return new RelaySite(service, options).listen();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    if (!url.startsWith('/relay/')) {
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': this.policy() })
        .end(this.page());
      return;
    }
    const path = url.slice('/relay'.length);
    this.relayed.push(`${method} ${path}`);
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    if (path === '/v1/chat/suggestions') {
      // The model would be asked for them, and take the script of the next message.
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"suggestions":[]}');
      return;
    }
    if (path === '/v1/files/upload' && !(await this.lets(response))) return;
    const answered = await fetch(`${this.service.baseUrl}${path}`, {
      method,
      headers: {
        'content-type': request.headers['content-type'] ?? 'application/json',
        authorization: `Bearer ${this.options.key}`,
      },
      ...(body.length > 0 ? { body } : {}),
    });
    response.writeHead(answered.status, { 'content-type': answered.headers.get('content-type') ?? '' });
    response.flushHeaders();
    if (answered.body) await pipeline(Readable.fromWeb(answered.body), response);
    else response.end();
  }

  private async lets(response: ServerResponse): Promise<boolean> {
    response.once('close', () => {
      if (!response.writableEnded) this.brokenUploads += 1;
    });
    await this.uploadsHeld;
    if (this.refusedUploads === null) return !response.destroyed;
    response.writeHead(this.refusedUploads, { 'content-type': 'application/json' }).end('{}');
    return false;
  }

  private policy(): string {
    return `default-src 'none'; script-src ${this.service.baseUrl}; connect-src 'self'; img-src https:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
  }

  private page(): string {
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Shop</title>
<script type="module" src="${this.service.baseUrl}/widget.js"></script></head>
<body><main><h1>A shop</h1><p>Things for sale.</p></main>
<agent-chat mode="proxy" base-url="${this.origin}/relay" assistant-id="${this.options.agentId}"></agent-chat></body></html>`;
  }
}
