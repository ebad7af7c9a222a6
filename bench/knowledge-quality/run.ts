/** Measures answers to questions about real documents, and the coverage of their pages, with one agent in embedded mode. */
import { round } from '../figures.ts';
import { openDatabaseOf } from '../knowledge-stage.ts';
import type { WriteLine } from '../passes.ts';
import type { Environment } from '../processes.ts';
import { createKey, post } from '../provision.ts';
import type { Stage } from '../stage.ts';
import { table } from '../table.ts';
import { Asker } from './asker.ts';
import { CORPUS_FOLDER, type CorpusFile, fetchCorpus, filesOf, markdownFiles, spread } from './corpus.ts';
import { coverageOf, coverageText, type PageCoverage, worstText } from './coverage.ts';
import { mainContentOf } from './main-content.ts';
import { PACKAGES } from './packages.ts';
import { answers, type Question, QUESTIONS } from './questions.ts';
import { serveModel, serveSite } from './site.ts';
import { StandInModel } from './stand-in-model.ts';

/** The settings of the searches; default the settings of an agent. */
const SEARCHES = {
  keywords: { semanticWeight: 0 },
  'keywords, no threshold': { semanticWeight: 0, scoreThreshold: 0 },
  hybrid: {},
  'hybrid, no threshold': { scoreThreshold: 0 },
  meaning: { semanticWeight: 1 },
} as const;
type SearchName = keyof typeof SEARCHES;

export interface QualityResult {
  readonly chunks: number;
  readonly pages: number;
  readonly crawl: Readonly<Record<string, number>>;
  /** Rank of the first of five results that answers; 0 if none does, -1 if there are no results. */
  readonly ranks: readonly { readonly question: Question; readonly by: Readonly<Record<SearchName, number>> }[];
  readonly coverage: readonly PageCoverage[];
}

interface Site {
  readonly source: (typeof PACKAGES)[number];
  readonly files: readonly CorpusFile[];
  readonly address: string;
}

/** @throws Error with the names of packages that cannot be downloaded */
export async function runQuality(
  stage: Stage,
  corpus: string | undefined,
  writeLine: WriteLine,
): Promise<QualityResult> {
  const folder = corpus ?? CORPUS_FOLDER;
  const tell = (line: string): void => writeLine(`quality: ${line}`);
  fetchCorpus(folder, tell);
  const [html, others] = [
    PACKAGES.filter(({ covered }) => covered > 0),
    PACKAGES.filter(({ covered }) => covered === 0),
  ];
  const servers = await Promise.all(
    html.map(async (source) => ({
      source,
      files: filesOf(source, folder),
      server: await serveSite(filesOf(source, folder)),
    })),
  );
  const sites: Site[] = servers.map(({ source, files, server }) => ({ source, files, address: server.address }));
  const model = new StandInModel(
    sites.flatMap(({ source, files }) =>
      files.map(({ content }) => mainContentOf(content.toString('utf8'), source.rules).text),
    ),
  );
  const endpoint = await serveModel(model);
  const env = {
    ...stage.embeddedEnvironment(),
    EGRESS_ALLOW: [...sites.map(({ address }) => address), endpoint.address].join(','),
    EMBEDDINGS_BASE_URL: `http://${endpoint.address}/v1`,
    EMBEDDINGS_MODEL: 'stand-in',
  };
  const running = await stage.startEmbedded(env);
  try {
    const key = await createKey(env, '--crawl-pages', '10000');
    const asker = new Asker(
      running.service.origin,
      key,
      await post(running.service.origin, key, '/v1/agents', { name: 'Asked', provider: { type: 'anthropic' } }),
    );
    tell('crawling');
    const website = await asker.crawl(sites.map(({ address }) => `http://${address}/`));
    tell('uploading');
    await asker.upload([...others.flatMap((source) => filesOf(source, folder)), ...markdownFiles()]);
    tell('waiting for vectors');
    await asker.untilEmbedded(model);
    const ranks = [];
    for (const question of QUESTIONS) ranks.push({ question, by: await ranksOf(question, asker) });
    await running.stop();
    tell('comparing pages with their chunks');
    return {
      chunks: website.chunks,
      pages: sites.flatMap(({ files }) => files).length,
      crawl: website.sync.pages,
      ranks,
      coverage: await indexedCoverage(env, sites),
    };
  } finally {
    for (const { server } of servers) server.close();
    endpoint.close();
  }
}

async function ranksOf(question: Question, asker: Asker): Promise<Record<SearchName, number>> {
  const rank = async (settings: object): Promise<number> => {
    const found = await asker.search(question.question, settings);
    return found.length === 0
      ? -1
      : found.findIndex(({ heading, text }) => answers(question, `${heading ?? ''}\n${text}`)) + 1;
  };
  const ranks = await Promise.all(
    Object.entries(SEARCHES).map(async ([name, settings]) => [name, await rank(settings)] as const),
  );
  return Object.fromEntries(ranks) as Record<SearchName, number>;
}

/** Compares what the crawl stored, which excludes blocks that repeat on a site. */
async function indexedCoverage(env: Environment, sites: readonly Site[]): Promise<PageCoverage[]> {
  const open = await openDatabaseOf(env);
  try {
    const rows = await open.database.query<{ url: string; title: string; heading: string | null; text: string }>(
      `select d.url, d.title, c.heading, c.text from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
        where d.kind = 'website' and d.revision >= c.valid_from and d.revision < c.valid_until order by d.url, c.position`,
    );
    const chunks = Map.groupBy(rows, ({ url }) => url);
    return sites.flatMap(({ source, files, address }) =>
      spread(files, source.covered).map((file) => {
        const held = chunks.get(`http://${address}/${file.name}`) ?? [];
        return coverageOf(
          file.key,
          mainContentOf(file.content.toString('utf8'), source.rules),
          held,
          held[0]?.title ?? null,
        );
      }),
    );
  } finally {
    await open.close();
  }
}

const share = (part: number, whole: number): string => `${round((100 * part) / (whole || 1), 1)} %`;

export function qualityText({ ranks, coverage, chunks, pages, crawl }: QualityResult): string {
  const rows = (Object.keys(SEARCHES) as SearchName[]).flatMap((name) => {
    const groups = [
      'all',
      ...new Set(ranks.map(({ question }) => question.language)),
      ...new Set(ranks.map(({ question }) => question.kind)),
    ];
    return (name === 'keywords' || name === 'hybrid' ? groups : ['all']).map((group) => {
      const asked = ranks
        .filter(({ question }) => group === 'all' || question.language === group || question.kind === group)
        .map(({ by }) => by[name]);
      const within = (count: number): string =>
        share(asked.filter((rank) => rank > 0 && rank <= count).length, asked.length);
      return [`by ${name}`, group, asked.length, within(1), within(5), asked.filter((rank) => rank < 0).length];
    });
  });
  return [
    `${pages} pages of ${PACKAGES.length} packages (${Object.entries(crawl)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}) are ${chunks} chunks.`,
    table(['Questions', 'Of', 'Asked', 'Answer first', 'Among the first five', 'Nothing found'], rows),
    coverageText(coverage),
  ].join('\n\n');
}

/** The missed questions, for work on search and reader. */
export function missedText({ ranks, coverage }: QualityResult): string {
  const missed = ranks
    .filter(({ by }) => by.keywords < 1)
    .map(
      ({ question, by }) =>
        `missed by keywords (${Object.values(by).join(' ')}): ${question.question} -> ${question.file}: ${question.passages.map((passage) => passage.join(' & ')).join(' or ')}`,
    );
  return [...missed, worstText(coverage, 2)].join('\n');
}
