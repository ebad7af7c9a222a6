import { setTimeout as sleep } from 'node:timers/promises';
import type { CorpusFile } from './corpus.ts';
import type { StandInModel } from './stand-in-model.ts';

export interface Found {
  readonly title: string;
  readonly url: string | null;
  readonly heading: string | null;
  readonly text: string;
}

interface WebsiteRead {
  readonly sync: {
    readonly state: string;
    readonly lastError: string | null;
    readonly pages: Readonly<Record<string, number>>;
  };
  readonly chunks: number;
}

const POLL_MS = 500;
const GIVE_UP_MS = 30 * 60_000;
/** Every chunk has its vector after this time without a request to the endpoint. */
const QUIET_MS = 8_000;

/** The knowledge of one agent, through HTTP. */
export class Asker {
  readonly agentId: string;
  private readonly origin: string;
  private readonly key: string;

  constructor(origin: string, key: string, agentId: string) {
    this.origin = origin;
    this.key = key;
    this.agentId = agentId;
  }

  /** @throws Error if a crawl fails */
  async crawl(roots: readonly string[]): Promise<WebsiteRead> {
    await this.ask('PUT', 'website', { configs: roots.map((rootUrl) => ({ rootUrl })) });
    return this.until(async () => {
      const website = (await this.ask('GET', 'website')) as WebsiteRead;
      if (website.sync.state === 'IN_PROGRESS') return undefined;
      if (website.sync.state === 'FAILED') throw new Error(`The crawl failed: ${website.sync.lastError ?? ''}`);
      return website;
    });
  }

  /** @throws Error if a file cannot be parsed */
  async upload(files: readonly CorpusFile[]): Promise<void> {
    for (const { key, name, content } of files) {
      const body = new FormData();
      const file = `${key.split('/')[0] ?? ''} ${name}`;
      body.set(
        'file',
        new File([new Uint8Array(content)], file, { type: name.endsWith('.pdf') ? 'application/pdf' : 'text/plain' }),
      );
      await this.ask('POST', 'uploaded-files', body);
    }
    await this.until(async () => {
      const { files: read } = (await this.ask('GET', 'uploaded-files')) as {
        files: readonly { readonly name: string; readonly status: string; readonly error: string | null }[];
      };
      const failed = read.find(({ status }) => status === 'failed');
      if (failed) throw new Error(`${failed.name}: ${failed.error ?? ''}`);
      return read.every(({ status }) => status === 'ready') ? true : undefined;
    });
  }

  async untilEmbedded(model: StandInModel): Promise<void> {
    let before = -1;
    while (before !== model.requests) {
      before = model.requests;
      await sleep(QUIET_MS);
    }
  }

  /** The best five. */
  async search(query: string, settings: object): Promise<readonly Found[]> {
    return ((await this.ask('POST', 'search', { query, maxResults: 5, ...settings })) as { results: readonly Found[] })
      .results;
  }

  private async until<Result>(look: () => Promise<Result | undefined>): Promise<Result> {
    const late = performance.now() + GIVE_UP_MS;
    for (;;) {
      const result = await look();
      if (result !== undefined) return result;
      if (performance.now() > late) throw new Error('The corpus was not indexed in time');
      await sleep(POLL_MS);
    }
  }

  private async ask(method: string, route: string, body?: object): Promise<unknown> {
    for (;;) {
      const answer = await fetch(`${this.origin}/v1/agents/${this.agentId}/knowledge-bases/${route}`, {
        method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        },
        ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text);
      if (answer.status !== 429) throw new Error(`${method} ${route} answered ${answer.status}: ${text}`);
      await sleep(1_000 * Number(answer.headers.get('retry-after') ?? '1'));
    }
  }
}
