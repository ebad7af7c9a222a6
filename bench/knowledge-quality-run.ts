import { setTimeout as sleep } from 'node:timers/promises';
import { round } from './figures.ts';
import { answerOf, type QualityDocument, readQualitySet, recallAt } from './knowledge-quality.ts';
import type { Environment } from './processes.ts';
import { createKey, post } from './provision.ts';
import type { Stage } from './stage.ts';

export interface QualityFigures {
  readonly by: 'keywords' | 'meaning' | 'hybrid';
  readonly language: string;
  readonly questions: number;
  /** Shares of the questions whose answer is first, and among the first five. */
  readonly recallAt1: number;
  readonly recallAt5: number;
}

interface Found {
  readonly sourceId: string;
  readonly heading: string | null;
  readonly semanticScore: number | null;
}

const WEIGHTS = { keywords: 0, meaning: 1, hybrid: 0.4 } as const;
const POLL_MS = 500;
const GIVE_UP_MS = 60_000;

/** Uploads the documents of the set and asks their questions, through HTTP. @param further what lets the service ask the played model */
export async function measureQuality(stage: Stage, further: Environment): Promise<QualityFigures[]> {
  const env = { ...stage.embeddedEnvironment(), ...further };
  const running = await stage.startEmbedded(env);
  try {
    const asker = new Asker(running.service.origin, await createKey(env));
    const { documents, questions } = readQualitySet();
    await asker.learn(documents);
    const figures: QualityFigures[] = [];
    for (const by of ['keywords', 'meaning', 'hybrid'] as const) {
      const found = new Map<string, readonly string[]>();
      for (const { text } of questions) found.set(text, await asker.answers(text, WEIGHTS[by]));
      const search = (text: string): Promise<readonly string[]> => Promise.resolve(found.get(text) ?? []);
      for (const language of ['all', ...new Set(questions.map((question) => question.language))]) {
        const asked = questions.filter((question) => language === 'all' || question.language === language);
        const [first, five] = [await recallAt(1, asked, search), await recallAt(5, asked, search)];
        figures.push({ by, language, questions: asked.length, recallAt1: round(first, 3), recallAt5: round(five, 3) });
      }
    }
    return figures;
  } finally {
    await running.stop();
  }
}

class Asker {
  private agentId = '';
  private readonly keys = new Map<string, string>();
  private readonly origin: string;
  private readonly key: string;

  constructor(origin: string, key: string) {
    this.origin = origin;
    this.key = key;
  }

  async learn(documents: readonly QualityDocument[]): Promise<void> {
    this.agentId = await post(this.origin, this.key, '/v1/agents', { name: 'Asked', provider: { type: 'anthropic' } });
    for (const document of documents) {
      const body = new FormData();
      body.set('file', new File([markdownOf(document)], `${document.title}.md`, { type: 'text/markdown' }));
      const { id } = (await this.ask('uploaded-files', body)) as { id: string };
      this.keys.set(id, document.key);
    }
    const until = performance.now() + GIVE_UP_MS;
    for (const { title } of documents) while (!(await this.isEmbedded(title, performance.now() > until))) await sleep(POLL_MS);
  }

  /** The best first, as `answerOf` names them. */
  async answers(query: string, semanticWeight: number): Promise<string[]> {
    const found = await this.search({ query, semanticWeight, scoreThreshold: 0, maxResults: 5 });
    return found.map(({ sourceId, heading }) => answerOf(this.keys.get(sourceId) ?? '', heading));
  }

  private async isEmbedded(title: string, isLate: boolean): Promise<boolean> {
    if (isLate) throw new Error('The documents were not embedded in time');
    const found = await this.search({ query: title, scoreThreshold: 0, maxResults: 50 });
    return new Set(found.map(({ sourceId }) => sourceId)).size > 0 && found.every(({ semanticScore }) => semanticScore !== null);
  }

  private async search(body: object): Promise<readonly Found[]> {
    return ((await this.ask('search', JSON.stringify(body))) as { results: readonly Found[] }).results;
  }

  private async ask(route: string, body: FormData | string): Promise<unknown> {
    const answer = await fetch(`${this.origin}/v1/agents/${this.agentId}/knowledge-bases/${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
      body,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${route} answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  }
}

function markdownOf({ blocks }: QualityDocument): string {
  return blocks.flatMap((block) => (block.kind === 'heading' ? [`# ${block.text}`] : block.kind === 'text' ? [block.text] : [])).join('\n\n');
}
