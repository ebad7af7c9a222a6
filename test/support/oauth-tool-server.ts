import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** How the server behaves; any of it may be changed at any time. */
export interface OAuthBehaviour {
  /** Of access tokens, in seconds; undefined: the server does not say. */
  expiresIn?: number | undefined;
  /** What the token endpoint does. */
  token: 'grants' | 'invalid_grant' | 'error' | 'hangs' | 'garbage';
  /** `unauthorized`: the server refuses every token. */
  tool: 'answers' | 'hangs' | 'unauthorized';
  refreshTokens: boolean;
  registration: boolean;
  clientIdDocuments: boolean;
  /** Replaces fields of the metadata. */
  metadata: Record<string, unknown>;
  /** Replaces fields of the metadata of the protected resource; null removes the document. */
  resourceMetadata: Record<string, unknown> | null;
  /** Sent with the code, if the metadata announces it. */
  iss: string | undefined;
  /** The scope in the first 401. */
  challengedScope: string | undefined;
  /** The scope that calls of the tool need. */
  requiredScope: string | undefined;
  /** Bytes that are added to the metadata. */
  padding: number;
  /** Runs during each request, with its path. */
  meanwhile?: ((path: string) => Promise<void>) | undefined;
}

interface Grant {
  readonly scope: string;
  revoked: boolean;
}

const NORMAL: OAuthBehaviour = {
  expiresIn: 3_600,
  token: 'grants',
  tool: 'answers',
  refreshTokens: true,
  registration: true,
  clientIdDocuments: false,
  metadata: {},
  resourceMetadata: {},
  iss: undefined,
  challengedScope: undefined,
  requiredScope: undefined,
  padding: 0,
};

/** A tool server and its authorization server in one, over real HTTP. Its tool `who` returns the token of the call. */
export class OAuthToolServer {
  behaviour: OAuthBehaviour = { ...NORMAL };
  /** `<method> <path>`, in order. */
  readonly requests: string[] = [];
  /** The `Authorization` of each request to the tool server. */
  readonly presented: (string | undefined)[] = [];
  /** The methods of the accepted messages, in order. */
  readonly calls: string[] = [];
  /** The form of each token request. */
  readonly tokenRequests: URLSearchParams[] = [];
  readonly registrations: Record<string, unknown>[] = [];
  private readonly clients = new Map<string, string | undefined>();
  private readonly codes = new Map<string, { challenge: string; scope: string; clientId: string }>();
  private readonly accessTokens = new Map<string, Grant>();
  private readonly refreshTokens = new Map<string, { grant: Grant; used: boolean }>();
  private hanging: { readonly response: ServerResponse; readonly grant: () => void }[] = [];

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<OAuthToolServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OAuthToolServer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  /** Restores the normal behaviour and clears the records. */
  reset(): void {
    this.behaviour = { ...NORMAL };
    for (const list of [this.requests, this.presented, this.calls, this.tokenRequests, this.registrations])
      list.length = 0;
    this.release();
  }

  /** Answers the waiting requests: normally if `granting`, else with an error. */
  release({ granting = false }: { readonly granting?: boolean } = {}): void {
    for (const { response, grant } of this.hanging.splice(0)) {
      if (granting) grant();
      else response.writeHead(503).end();
    }
  }

  /** How many requests hang. */
  get hangs(): number {
    return this.hanging.length;
  }

  /** From now on no token that was given counts. */
  revokeAccessTokens(): void {
    this.accessTokens.clear();
  }

  /** A person signs in. @returns where the browser is sent */
  async consent(authorizationUrl: string): Promise<string> {
    const response = await fetch(authorizationUrl, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`The sign-in page answers ${response.status}: ${await response.text()}`);
    return location;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    const url = new URL(request.url ?? '/', this.origin);
    this.requests.push(`${request.method ?? ''} ${url.pathname}`);
    const body = await bodyOf(request);
    await this.behaviour.meanwhile?.(url.pathname);
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp': {
        this.sendResourceMetadata(response);
        return;
      }
      case '/.well-known/oauth-authorization-server': {
        json(response, 200, this.metadata());
        return;
      }
      case '/register': {
        this.register(response, body);
        return;
      }
      case '/authorize': {
        this.authorize(response, url.searchParams);
        return;
      }
      case '/token': {
        this.token(request, response, new URLSearchParams(body));
        return;
      }
      case '/mcp':
        return this.tool(request, response, body);
      default: {
        json(response, 404, { error: 'not_found' });
        return;
      }
    }
  }

  private sendResourceMetadata(response: ServerResponse): void {
    const { resourceMetadata } = this.behaviour;
    if (!resourceMetadata) return json(response, 404, {});
    json(response, 200, { resource: this.url, authorization_servers: [this.origin], ...resourceMetadata });
  }

  private metadata(): object {
    const { registration, clientIdDocuments, metadata, padding, iss } = this.behaviour;
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      ...(registration && { registration_endpoint: `${this.origin}/register` }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      client_id_metadata_document_supported: clientIdDocuments,
      ...(iss !== undefined && { authorization_response_iss_parameter_supported: true }),
      ...metadata,
      ...(padding > 0 && { padding: 'x'.repeat(padding) }),
    };
  }

  private register(response: ServerResponse, body: string): void {
    const metadata = JSON.parse(body) as Record<string, unknown>;
    this.registrations.push(metadata);
    const clientId = `client-${this.registrations.length}-${randomUUID()}`;
    const secret = metadata['token_endpoint_auth_method'] === 'none' ? undefined : `client-secret-${randomUUID()}`;
    this.clients.set(clientId, secret);
    json(response, 201, { ...metadata, client_id: clientId, ...(secret !== undefined && { client_secret: secret }) });
  }

  private authorize(response: ServerResponse, query: URLSearchParams): void {
    const clientId = query.get('client_id') ?? '';
    if (!this.clients.has(clientId) && !clientId.startsWith('https://'))
      return json(response, 400, { error: 'unknown client' });
    const code = `code-${randomUUID()}`;
    this.codes.set(code, { challenge: query.get('code_challenge') ?? '', scope: query.get('scope') ?? '', clientId });
    const back = new URL(query.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    if (this.behaviour.iss !== undefined) back.searchParams.set('iss', this.behaviour.iss);
    response.writeHead(302, { location: back.href }).end();
  }

  private token(request: IncomingMessage, response: ServerResponse, form: URLSearchParams): void {
    this.tokenRequests.push(form);
    switch (this.behaviour.token) {
      case 'hangs':
        this.hanging.push({ response, grant: () => this.grant(request, response, form) });
        return;
      case 'error':
        return json(response, 500, { error: 'invalid_grant' });
      case 'invalid_grant':
        return json(response, 400, { error: 'invalid_grant', error_description: 'secret words of the server' });
      case 'garbage':
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token": "half');
      case 'grants':
        this.grant(request, response, form);
    }
  }

  private grant(request: IncomingMessage, response: ServerResponse, form: URLSearchParams): void {
    const grant = this.isClient(request, form) ? this.grantFor(form) : undefined;
    if (grant) json(response, 200, this.tokensOf(grant));
    else json(response, 400, { error: 'invalid_grant' });
  }

  private isClient({ headers: { authorization } }: IncomingMessage, form: URLSearchParams): boolean {
    const [id, secret] = Buffer.from(authorization?.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .split(':');
    const clientId = form.get('client_id') ?? id ?? '';
    return clientId.startsWith('https://') || this.clients.get(clientId) === (secret === '' ? undefined : secret);
  }

  private grantFor(form: URLSearchParams): Grant | undefined {
    if (form.get('grant_type') === 'refresh_token') return this.grantOfRefreshToken(form.get('refresh_token') ?? '');
    const code = form.get('code') ?? '';
    const known = this.codes.get(code);
    this.codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (known?.challenge !== challenge || form.get('resource') !== this.expectedResource()) return undefined;
    return { scope: known.scope, revoked: false };
  }

  private expectedResource(): string | null {
    return this.behaviour.resourceMetadata === null ? null : this.url;
  }

  /** One that comes twice was stolen, so the whole grant ends. */
  private grantOfRefreshToken(token: string): Grant | undefined {
    const known = this.refreshTokens.get(token);
    if (!known) return undefined;
    if (known.used) known.grant.revoked = true;
    known.used = true;
    return known.grant.revoked ? undefined : known.grant;
  }

  private tokensOf(grant: Grant): object {
    const { expiresIn, refreshTokens } = this.behaviour;
    const accessToken = `access-token-${randomUUID()}`;
    const refreshToken = `refresh-token-${randomUUID()}`;
    this.accessTokens.set(accessToken, grant);
    if (refreshTokens) this.refreshTokens.set(refreshToken, { grant, used: false });
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
      ...(refreshTokens && { refresh_token: refreshToken }),
      ...(grant.scope !== '' && { scope: grant.scope }),
    };
  }

  private async tool(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { authorization } = request.headers;
    this.presented.push(authorization);
    const grant = this.accessTokens.get(authorization?.replace('Bearer ', '') ?? '');
    const { requiredScope, tool } = this.behaviour;
    if (!grant || grant.revoked || tool === 'unauthorized') {
      this.refuse(response, 401, this.behaviour.challengedScope);
      return;
    }
    if (tool === 'hangs') {
      this.hanging.push({ response, grant: () => response.destroy() });
      return;
    }
    if (body.includes('tools/call') && requiredScope !== undefined && !grant.scope.split(' ').includes(requiredScope)) {
      this.refuse(response, 403, requiredScope, 'insufficient_scope');
      return;
    }
    this.calls.push(...methodsOf(body));
    const server = new McpServer({ name: 'who', version: '1.0.0' });
    server.registerTool('who', { description: 'Says who calls.' }, () => ({
      content: [{ type: 'text', text: authorization ?? '' }],
    }));
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    await forward(await transport.handleRequest(webRequest(request, this.url, body)), response);
  }

  private refuse(response: ServerResponse, status: number, scope: string | undefined, error?: string): void {
    const parameters = [
      `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`,
      ...(scope === undefined ? [] : [`scope="${scope}"`]),
      ...(error === undefined ? [] : [`error="${error}"`]),
    ];
    const named = this.behaviour.resourceMetadata === null ? parameters.slice(1) : parameters;
    response.writeHead(status, { 'www-authenticate': `Bearer ${named.join(', ')}` }).end();
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function methodsOf(body: string): string[] {
  const { method } = (body === '' ? {} : JSON.parse(body)) as { readonly method?: string };
  return method === undefined ? [] : [method];
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function webRequest({ method = 'GET', headers }: IncomingMessage, url: string, body: string): Request {
  const entries = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Request(url, { method, headers: entries, ...(body === '' ? {} : { body }) });
}

async function forward(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}
