import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll } from '@jest/globals';

/** The response of a path; by default 200 with HTML. */
export interface SitePage {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** A request with this etag gets 304. */
  readonly etag?: string;
  /** An HTTP date. A request with it gets 304. */
  readonly lastModified?: string;
  /** Awaited before the response begins, so that a test can hold it. */
  readonly before?: () => Promise<unknown>;
}

/** For responses that are malformed, endless or cut off. */
export type SiteListener = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface SiteRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A site on 127.0.0.1 with the pages that a test sets. Other paths are 404, also robots.txt and the sitemap. */
export class SiteServer {
  readonly requests: SiteRequest[] = [];
  /** Requests in progress. */
  concurrent = 0;
  /** The highest value of `concurrent`. */
  maxConcurrent = 0;
  /** For `useService({ egressAllow })`: allows this server, even before it listens. */
  readonly egressAllow: ReadonlySet<string>;
  private readonly pages = new Map<string, SitePage | SiteListener>();
  private readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => void this.answer(request, response));
    const has = (target: string): boolean => [`127.0.0.1:${this.port}`, `localhost:${this.port}`].includes(target);
    this.egressAllow = Object.assign(new Set<string>(), { has });
  }

  async listen(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  get port(): number {
    const address = this.server.address() as AddressInfo | null;
    return address?.port ?? 0;
  }

  /** `127.0.0.1:12345` */
  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** `http://127.0.0.1:12345` */
  get origin(): string {
    return `http://${this.host}`;
  }

  url(path: string): string {
    return `${this.origin}${path}`;
  }

  /** @param page as text, the body of an HTML page */
  page(path: string, page: SitePage | SiteListener | string): void {
    this.pages.set(path, typeof page === 'string' ? { body: page } : page);
  }

  /** An HTML page with a heading, a paragraph and links. */
  article(path: string, { title, text, links = [] }: { title: string; text: string; links?: readonly string[] }): void {
    const anchors = links.map((href) => `<li><a href="${href}">${href}</a></li>`).join('');
    this.page(
      path,
      `<!doctype html><html><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p><ul>${anchors}</ul></main></body></html>`,
    );
  }

  remove(path: string): void {
    this.pages.delete(path);
  }

  robots(lines: readonly string[]): void {
    this.page('/robots.txt', { type: 'text/plain', body: lines.join('\n') });
  }

  /** @param locations paths of this site, or absolute URLs */
  sitemap(locations: readonly string[], path = '/sitemap.xml'): void {
    const urls = locations.map(
      (location) => `<url><loc>${location.startsWith('/') ? this.url(location) : location}</loc></url>`,
    );
    this.page(path, {
      type: 'application/xml',
      body: `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>`,
    });
  }

  /** How often a path was requested. */
  count(path: string): number {
    return this.requests.filter((request) => request.path === path).length;
  }

  /** Removes pages and requests. */
  reset(): void {
    this.pages.clear();
    this.requests.length = 0;
    this.maxConcurrent = this.concurrent;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    this.requests.push({ method, path, headers });
    this.concurrent += 1;
    this.maxConcurrent = Math.max(this.maxConcurrent, this.concurrent);
    response.on('error', () => undefined).on('close', () => (this.concurrent -= 1));
    const page = this.pages.get(path) ?? { status: 404, body: 'Not found' };
    if (typeof page === 'function') await page(request, response);
    else await send(page, headers, response);
  }
}

async function send(page: SitePage, requested: IncomingHttpHeaders, response: ServerResponse): Promise<void> {
  await page.before?.();
  const { etag, lastModified, status = 200, type = 'text/html; charset=utf-8', body = '' } = page;
  const validators = {
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { 'last-modified': lastModified }),
  };
  if (isUnchanged(page, requested)) response.writeHead(304, validators).end();
  else response.writeHead(status, { 'content-type': type, ...validators, ...page.headers }).end(body);
}

/** With `If-None-Match`, `If-Modified-Since` is ignored. */
function isUnchanged({ etag, lastModified }: SitePage, requested: IncomingHttpHeaders): boolean {
  if (requested['if-none-match'] !== undefined) return requested['if-none-match'] === etag;
  return lastModified !== undefined && requested['if-modified-since'] === lastModified;
}

/** A site for the tests of a file, empty before each. */
export function useSite(): SiteServer {
  const site = new SiteServer();
  beforeAll(() => site.listen());
  afterEach(() => site.reset());
  afterAll(() => site.close());
  return site;
}
