import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../ledger.ts';
import type { Site } from '../outside/site.ts';
import { type Api, Unresolved } from './api.ts';
import type { Agents } from './customer.ts';

interface Website {
  readonly sync: { readonly state: string; readonly lastError: string | null; readonly pages: object };
}

/** What a crawl of eight pages may take, with a worker that dies in it. */
const CRAWL_WITHIN_MS = 300_000;
const UPLOAD_EVERY_MS = 6000;
const CRAWL_EVERY_MS = 20_000;

/** Gives agents what they know: uploads files, and has a site crawled. */
export class Librarian {
  crawls = 0;
  private readonly api: Api;
  private readonly ledger: Ledger;
  private readonly agents: Agents;
  private readonly site: Site;

  constructor(api: Api, ledger: Ledger, agents: Agents, site: Site) {
    this.api = api;
    this.ledger = ledger;
    this.agents = agents;
    this.site = site;
  }

  async uploadUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.upload().catch(ignoreUnresolved);
      await sleep(UPLOAD_EVERY_MS);
    }
  }

  async crawlUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.crawl().catch(ignoreUnresolved);
      await sleep(CRAWL_EVERY_MS);
    }
  }

  /** Has the edited site crawled, and looks whether all of it is found. */
  async crawl(): Promise<void> {
    const words = this.site.edit();
    const path = `/v1/agents/${this.agents.reads}/knowledge-bases/website`;
    const put = await this.api.until('PUT', path, { body: { configs: [{ rootUrl: this.site.rootUrl }] } });
    if (put.status !== 200)
      this.api.findings.add('crawl', `A crawl was refused with ${put.status}`, { body: put.body });
    const deadline = performance.now() + CRAWL_WITHIN_MS;
    let website: Website | undefined;
    do {
      await sleep(500);
      website = (await this.api.until<Website>('GET', path)).body;
    } while (website.sync.state === 'IN_PROGRESS' && performance.now() < deadline);
    this.crawls += 1;
    if (website.sync.state !== 'SUCCESS')
      this.api.findings.add('crawl', `A crawl ended as ${website.sync.state}`, { sync: website.sync });
    else for (const word of words) await this.expectFound(this.agents.reads, word);
  }

  /** Looks whether the word is found by a search of the agent. */
  async expectFound(agentId: string, word: string): Promise<void> {
    const { status, body } = await this.api.until<{ results: readonly { text: string }[] }>(
      'POST',
      `/v1/agents/${agentId}/knowledge-bases/search`,
      { body: { query: word } },
    );
    if (status === 200 && body.results.some(({ text }) => text.includes(word))) return;
    this.api.findings.add('search', `A search does not find ${word}`, { status, agentId, results: body });
  }

  private async upload(): Promise<void> {
    const word = `bookmark${randomUUID()
      .replaceAll('-', '')
      .replaceAll(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] ?? '')}`;
    const form = new FormData();
    form.set(
      'file',
      new File([`# Note\n\nThe word of this note is ${word}.\n`], `${word}.md`, { type: 'text/markdown' }),
    );
    const path = `/v1/agents/${this.agents.knows}/knowledge-bases/uploaded-files`;
    const { status, body } = await this.api.until<{ id: string }>('POST', path, { body: form });
    if (status === 201) this.ledger.documents.set(body.id, word);
    else this.api.findings.add('knowledge', `A file was refused with ${status}`, { body });
  }
}

function ignoreUnresolved(error: unknown): void {
  if (!(error instanceof Unresolved)) throw error;
}
