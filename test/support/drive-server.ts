import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportPKCS8, generateKeyPair, jwtVerify } from 'jose';

const READ_ONLY = 'https://www.googleapis.com/auth/drive.readonly';
export const FOLDER = 'application/vnd.google-apps.folder';
export const DOCUMENT = 'application/vnd.google-apps.document';
export const SPREADSHEET = 'application/vnd.google-apps.spreadsheet';
export const SLIDES = 'application/vnd.google-apps.presentation';
const SHORTCUT = 'application/vnd.google-apps.shortcut';

export interface StoredFile {
  readonly id: string;
  name: string;
  mimeType: string;
  parents: string[];
  trashed: boolean;
  content: string;
  targetId?: string;
  /** Fields of its description that replace the true ones. */
  described?: Record<string, unknown>;
}

type Handler = (
  request: { readonly path: string; readonly query: URLSearchParams },
  response: ServerResponse,
) => boolean | Promise<boolean>;

export interface RecordedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
const PEM = await exportPKCS8(privateKey);

/** The JSON key file of a service account of the server. */
export function keyFile(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'project-1',
    private_key_id: 'key-1',
    private_key: PEM,
    client_email: `reader-${randomUUID()}@project-1.iam.example`,
    ...changes,
  });
}

/** A small cloud drive with the API v3 and a token endpoint. Every valid token sees all files. */
export class DriveServer {
  readonly files = new Map<string, StoredFile>();
  readonly requests: RecordedRequest[] = [];
  readonly tokenRequests: URLSearchParams[] = [];
  /** Called before each request; returns whether it has sent the response. */
  before: Handler | undefined;
  /** Page size of listings and changes. */
  pageSize = 100;
  /** Called for each token request; a returned error code refuses it. */
  refusal: ((form: URLSearchParams) => string | undefined) | undefined;
  tokenStatus = 400;
  /** The description of a refusal. */
  refusalWords: (form: URLSearchParams) => string = () => 'Account not found';
  expiresIn = 3_600;
  /** How far in the future assertions may be issued. */
  clockToleranceSeconds = 0;
  /** Awaited before each response to a token request. */
  held: Promise<void> | undefined;
  private changes: string[] = [];
  private readonly tokens = new Set<string>();
  private readonly codes = new Map<string, string>();
  private refreshTokens = new Set<string>();

  private constructor(
    private readonly server: Server,
    private readonly key: CryptoKey,
  ) {
    // Tests that share one for all their files do not close it.
    server.unref().on('connection', (socket) => socket.unref());
    server.on('request', (request, response) => {
      response.on('error', () => undefined);
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<DriveServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new DriveServer(server, publicKey);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get environment(): Record<string, string> {
    return { DRIVE_API_BASE_URL: this.url };
  }

  get environmentWithClient(): Record<string, string> {
    return {
      ...this.environment,
      DRIVE_OAUTH_CLIENT_ID: 'client-id',
      DRIVE_OAUTH_CLIENT_SECRET: 'client-secret-value',
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** Restores the defaults, and removes files and requests. */
  reset(): void {
    this.files.clear();
    this.requests.length = 0;
    this.tokenRequests.length = 0;
    this.before = undefined;
    this.refusal = undefined;
    this.held = undefined;
    this.tokenStatus = 400;
    this.refusalWords = () => 'Account not found';
    this.expiresIn = 3_600;
    this.clockToleranceSeconds = 0;
    this.pageSize = 100;
  }

  add(file: Partial<StoredFile> & Pick<StoredFile, 'name'>): string {
    const id = file.id ?? `file-${randomUUID()}`;
    this.files.set(id, { id, mimeType: 'text/plain', parents: [], trashed: false, content: '', ...file });
    this.changes.push(id);
    return id;
  }

  folder(name: string, parent?: string): string {
    return this.add({ name, mimeType: FOLDER, parents: parent === undefined ? [] : [parent] });
  }

  text(name: string, content: string, parent?: string): string {
    return this.add({ name, content, parents: parent === undefined ? [] : [parent] });
  }

  shortcut(name: string, targetId: string, parent: string): string {
    return this.add({ name, mimeType: SHORTCUT, targetId, parents: [parent] });
  }

  change(id: string, changes: Partial<StoredFile>): void {
    const file = this.files.get(id);
    if (!file) throw new Error(`There is no file ${id}`);
    Object.assign(file, changes);
    this.changes.push(id);
  }

  remove(id: string): void {
    this.files.delete(id);
    this.changes.push(id);
  }

  /** Makes all access tokens invalid. */
  revokeTokens(): void {
    this.tokens.clear();
  }

  revokeGrants(): void {
    this.revokeTokens();
    this.refreshTokens.clear();
  }

  /** Ids of the files that were downloaded or exported. */
  get fetched(): string[] {
    return this.requests
      .filter(({ path, query }) => query['alt'] === 'media' || path.endsWith('/export'))
      .map(({ path }) => path.split('/')[4] ?? '');
  }

  /** Grants access, as a person would. @returns where the browser is redirected */
  consent(authorizationUrl: string): string {
    const { searchParams } = new URL(authorizationUrl);
    const code = `code-${randomUUID()}`;
    this.codes.set(code, searchParams.get('code_challenge') ?? '');
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('code', code);
    back.searchParams.set('state', searchParams.get('state') ?? '');
    return back.href;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.url);
    if (path === '/token') {
      await this.token(new URLSearchParams(await bodyOf(request)), response);
      return;
    }
    this.requests.push({ path, query: Object.fromEntries(query) });
    if (!this.tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      json(response, 401, refusal('authError'));
      return;
    }
    if (this.before && (await this.before({ path, query }, response))) return;
    this.serve(path, query, response);
  }

  private serve(path: string, query: URLSearchParams, response: ServerResponse): void {
    const [, , , collection, encoded, action] = path.split('/');
    if (collection === 'about') return json(response, 200, { user: { emailAddress: 'reader@example' } });
    if (collection === 'changes') return this.sendChanges(encoded, query, response);
    if (collection !== 'files') return json(response, 404, refusal('notFound'));
    if (encoded === undefined) return this.list(query, response);
    const file = this.files.get(decodeURIComponent(encoded));
    if (!file) return json(response, 404, refusal('notFound'));
    if (action === 'export' || query.get('alt') === 'media')
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file.content);
    else json(response, 200, describe(file));
  }

  private list(query: URLSearchParams, response: ServerResponse): void {
    const parent = /^'(.*)' in parents and trashed = false$/
      .exec(query.get('q') ?? '')?.[1]
      ?.replaceAll(/\\(.)/g, '$1');
    if (parent === undefined || query.get('includeItemsFromAllDrives') !== 'true')
      return json(response, 400, refusal('invalid'));
    const all = [...this.files.values()].filter(({ parents, trashed }) => parents.includes(parent) && !trashed);
    const from = Number(query.get('pageToken') ?? 0);
    const to = from + this.pageSize;
    json(response, 200, {
      files: all.slice(from, to).map(describe),
      ...(to < all.length && { nextPageToken: String(to) }),
    });
  }

  private sendChanges(action: string | undefined, query: URLSearchParams, response: ServerResponse): void {
    if (action === 'startPageToken') return json(response, 200, { startPageToken: String(this.changes.length) });
    const from = Number(query.get('pageToken'));
    const to = Math.min(from + this.pageSize, this.changes.length);
    const changes = this.changes.slice(from, to).map((fileId) => {
      const file = this.files.get(fileId);
      return { fileId, removed: !file, ...(file && { file: describe(file) }) };
    });
    json(response, 200, {
      changes,
      ...(to < this.changes.length ? { nextPageToken: String(to) } : { newStartPageToken: String(to) }),
    });
  }

  private async token(form: URLSearchParams, response: ServerResponse): Promise<void> {
    this.tokenRequests.push(form);
    await this.held;
    const refused = this.refusal?.(form) ?? (await this.refusalOf(form));
    if (refused !== undefined) {
      json(response, this.tokenStatus, { error: refused, error_description: this.refusalWords(form) });
      return;
    }
    const token = `access-${randomUUID()}`;
    this.tokens.add(token);
    const isPerson = form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    const refreshToken = `refresh-${randomUUID()}`;
    if (isPerson) this.refreshTokens.add(refreshToken);
    json(response, 200, {
      access_token: token,
      token_type: 'Bearer',
      expires_in: this.expiresIn,
      ...(isPerson && { refresh_token: refreshToken, scope: READ_ONLY }),
    });
  }

  private async refusalOf(form: URLSearchParams): Promise<string | undefined> {
    switch (form.get('grant_type') ?? '') {
      case 'urn:ietf:params:oauth:grant-type:jwt-bearer':
        return this.isAssertion(form.get('assertion') ?? '');
      case 'authorization_code': {
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        const known = this.codes.get(form.get('code') ?? '');
        this.codes.delete(form.get('code') ?? '');
        return known === challenge && isClient(form) ? undefined : 'invalid_grant';
      }
      case 'refresh_token':
        // A refresh token is valid once.
        return isClient(form) && this.refreshTokens.delete(form.get('refresh_token') ?? '')
          ? undefined
          : 'invalid_grant';
      default:
        return 'unsupported_grant_type';
    }
  }

  private async isAssertion(assertion: string): Promise<string | undefined> {
    try {
      const { payload } = await jwtVerify(assertion, this.key, {
        audience: `${this.url}/token`,
        algorithms: ['RS256'],
        maxTokenAge: '1h',
        clockTolerance: this.clockToleranceSeconds,
      });
      return payload['scope'] === READ_ONLY && payload.iss?.includes('@') === true ? undefined : 'invalid_scope';
    } catch {
      return 'invalid_grant';
    }
  }
}

function describe({ id, name, mimeType, parents, trashed, content, targetId, described: instead }: StoredFile): object {
  const isOwn = mimeType.startsWith('application/vnd.google-apps.');
  const digest = createHash('md5').update(content).digest('hex');
  return {
    ...{ id, name, mimeType, parents, trashed, webViewLink: `https://drive.example/${id}`, version: '1' },
    ...(isOwn
      ? { modifiedTime: `2026-01-01T00:00:00.000Z/${digest}` }
      : { md5Checksum: digest, size: String(Buffer.byteLength(content)) }),
    ...(targetId !== undefined && { shortcutDetails: { targetId } }),
    ...instead,
  };
}

export function refusal(reason: string): object {
  return { error: { code: 403, message: 'words of the drive', errors: [{ domain: 'global', reason }] } };
}

export function json(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function isClient(form: URLSearchParams): boolean {
  return form.get('client_id') === 'client-id' && form.get('client_secret') === 'client-secret-value';
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
