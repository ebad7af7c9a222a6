import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestService } from '../support/harness.js';
import { PageServer } from './page-server.js';

/** A customer's site on its own origin: a page with the widget, and the server that mints its sessions. */
export class CustomerSite extends PageServer {
  /** The bodies of the requests to the session endpoint. */
  readonly asked: { resumeToken?: string; threadId?: string }[] = [];
  readonly reactions: object[] = [];
  /** Makes the session endpoint refuse all requests. */
  isClosed = false;
  /** The session endpoint is too busy for so many requests. */
  busyFor = 0;
  /** The conversation that the server continues for its visitor. */
  lastThread: string | undefined;

  private constructor(
    private readonly service: TestService,
    private readonly options: SiteOptions,
  ) {
    super();
    this.server.on(
      'request',
      (request: IncomingMessage, response: ServerResponse) => void this.answer(request, response),
    );
  }

  static start(service: TestService, options: SiteOptions): Promise<CustomerSite> {
    return new CustomerSite(service, options).listen();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const body =
      request.method === 'POST'
        ? (JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as Record<string, string>)
        : {};
    if (request.url === '/session') {
      this.asked.push(body);
      if (this.isClosed) json(403, { message: 'Not today.' });
      else if (this.busyFor > 0) {
        this.busyFor -= 1;
        response.writeHead(this.busyFor % 2 === 0 ? 429 : 503, { 'retry-after': '0' }).end();
      } else json(200, await this.credentials(body));
    } else if (request.url === '/reaction') {
      this.reactions.push(body);
      json(200, {});
    } else {
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': this.policy() })
        .end(this.page());
    }
  }

  /** The endpoint of docs/guide/widget.md. */
  private async credentials({
    resumeToken,
    newConversation,
    threadId = newConversation === undefined ? this.lastThread : undefined,
  }: {
    resumeToken?: string;
    threadId?: string;
    newConversation?: string;
  }): Promise<object> {
    const { key, agentId } = this.options;
    const renew = { resumeToken, endUser: 'visitor-1' };
    const mint = { assistant_id: agentId, endUser: 'visitor-1', ...(threadId ? { thread_id: threadId } : {}) };
    const answer = await this.service.http<Record<string, never>>(
      'POST',
      resumeToken ? '/v1/sessions/refresh' : '/v1/sessions',
      {
        key,
        body: resumeToken ? renew : mint,
      },
    );
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    const {
      session,
      pass,
      resumeToken: resume,
    } = answer.body as unknown as {
      session: { id: string; thread_id: string };
      pass: { token: string; expiresInSeconds: number };
      resumeToken?: { token: string };
    };
    return {
      pass: pass.token,
      threadId: session.thread_id,
      sessionId: session.id,
      expiresIn: this.options.passSeconds ?? pass.expiresInSeconds,
      ...(resume ? { resumeToken: resume.token } : {}),
    };
  }

  /** A policy that allows only the widget's script and its connections. */
  private policy(): string {
    const { origin } = new URL(this.options.widgetOrigin ?? this.service.baseUrl);
    const api = this.options.apiOrigin ?? origin;
    return `default-src 'none'; script-src ${origin}; connect-src 'self' ${api}; img-src https:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;
  }

  private page(): string {
    const { attributes = '', apiOrigin } = this.options;
    const api = apiOrigin ? `base-url="${apiOrigin}"` : '';
    return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Shop</title>
<script type="module" src="${this.service.baseUrl}/widget.js"></script></head>
<body><main><h1>A shop</h1><p>Things for sale.</p></main>
<agent-chat session-endpoint="/session" reaction-endpoint="/reaction" ${api} ${attributes}></agent-chat></body></html>`;
  }
}

interface SiteOptions {
  readonly key: string;
  readonly agentId: string;
  /** Of the element. */
  readonly attributes?: string;
  /** The origin of the service, if it differs from that of the widget's script. */
  readonly apiOrigin?: string;
  readonly widgetOrigin?: string;
  /** Replaces the lifetime of the pass in the responses of the endpoint. */
  readonly passSeconds?: number;
}
