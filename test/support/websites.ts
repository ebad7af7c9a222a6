import type { Answer, RunningService } from './harness.js';
import { until } from './until.js';

export interface WebsiteBody {
  readonly configs: readonly {
    readonly rootUrl: string;
    readonly excludedUrls: readonly string[];
    readonly selectedUrls: readonly string[];
  }[];
  readonly sync: {
    readonly state: string;
    readonly lastSuccessfulSyncAt: string | null;
    readonly lastError: string | null;
    readonly startedAt: string | null;
    readonly pages: {
      readonly found: number;
      readonly indexed: number;
      readonly failed: number;
      readonly skipped: number;
    };
  };
  readonly chunks: number;
  readonly bytes: number;
}

interface Site {
  readonly rootUrl: string;
  readonly excludedUrls?: readonly string[];
}

/** The websites of one agent, through the API. */
export class AgentWebsite {
  constructor(
    private readonly service: RunningService,
    private readonly key: string,
    readonly agentId: string,
  ) {}

  static async of(service: RunningService, key: string): Promise<AgentWebsite> {
    return new AgentWebsite(service, key, await service.agent(key));
  }

  put(...configs: readonly Site[]): Promise<Answer<WebsiteBody>> {
    return this.service.http<WebsiteBody>('PUT', this.path, { key: this.key, body: { configs } });
  }

  read(): Promise<Answer<WebsiteBody>> {
    return this.service.http<WebsiteBody>('GET', this.path, { key: this.key });
  }

  /** Waits for the end of the crawl. */
  async crawled(withinMs = 30_000): Promise<WebsiteBody> {
    let { body } = await this.read();
    await until(
      async () => {
        ({ body } = await this.read());
        return body.sync.state !== 'IN_PROGRESS';
      },
      'the crawl ends',
      { everyMs: 25, withinMs },
    );
    return body;
  }

  /** Sets the sites and waits for their crawl. */
  async crawl(...configs: readonly Site[]): Promise<WebsiteBody> {
    const { status, text } = await this.put(...configs);
    if (status !== 200) throw new Error(`website: ${status} ${text}`);
    return this.crawled();
  }

  private get path(): string {
    return `/v1/agents/${this.agentId}/knowledge-bases/website`;
  }
}
