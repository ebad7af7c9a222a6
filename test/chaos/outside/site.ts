import { HttpServer } from './http-server.ts';

const PAGES = 8;

/** A small site; every page has a word of its own, which changes when the site is edited. */
export class Site {
  private edition = 1;
  private server: HttpServer | undefined;

  static async start(): Promise<Site> {
    const site = new Site();
    site.server = await HttpServer.start((request, response) => {
      const number = Number(
        /^\/docs\/page-(\d+)$/.exec(request.url ?? '')?.[1] ?? (request.url === '/docs/' ? 0 : NaN),
      );
      if (!(number < PAGES)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'text/html' }).end(site.page(number));
    });
    return site;
  }

  get host(): string {
    return this.server?.host ?? '';
  }

  get rootUrl(): string {
    return `http://${this.host}/docs/`;
  }

  /** @returns the words that a crawl from now on finds, one a page */
  edit(): string[] {
    this.edition += 1;
    return this.words();
  }

  words(): string[] {
    return Array.from({ length: PAGES }, (_, number) => this.wordOf(number));
  }

  async close(): Promise<void> {
    await this.server?.close();
  }

  private wordOf(number: number): string {
    return `sitemark${'abcdefgh'[number] ?? ''}edition${this.edition}`;
  }

  private page(number: number): string {
    const links = Array.from({ length: PAGES }, (_, index) => `<li><a href="page-${index}">page ${index}</a></li>`);
    const words = `The word of this page is ${this.wordOf(number)}.`;
    return `<!doctype html><html><head><title>Page ${number}</title></head><body><main><h1>Page ${number}</h1><p>${words}</p><ul>${links.join('')}</ul></main></body></html>`;
  }
}
