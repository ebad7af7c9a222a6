import type { QualityFigures } from './knowledge-quality-run.ts';
import { measureQuality } from './knowledge-quality-run.ts';
import { searchEmbedded, type SearchFigures, searchOnPostgres } from './knowledge-search.ts';
import type { Say } from './passes.ts';
import type { SearchPlan } from './plan.ts';
import type { Environment } from './processes.ts';
import type { Stage } from './stage.ts';
import { table } from './table.ts';

export interface SearchResult {
  readonly postgres: readonly SearchFigures[];
  readonly embedded: readonly SearchFigures[];
  readonly quality: readonly QualityFigures[];
}

const DIMENSIONS = '1536';

/** One search at a time, and what is found of a set of questions. */
export async function runSearch(stage: Stage, plan: SearchPlan, say: Say): Promise<SearchResult> {
  const tell = (line: string): void => say(`search: ${line}`);
  const meaningBy = async (vectors: string): Promise<Environment> => {
    const { port } = await stage.startSite(1, vectors);
    const address = `127.0.0.1:${port}`;
    return { EGRESS_ALLOW: address, EMBEDDINGS_BASE_URL: `http://${address}/v1`, EMBEDDINGS_MODEL: 'bench' };
  };
  const postgres = await searchOnPostgres(stage, plan, tell);
  const embedded = plan.embeddedChunks === 0 ? [] : await searchEmbedded(stage, await meaningBy(DIMENSIONS), plan, tell);
  tell('the questions of bench/knowledge-quality');
  return { postgres, embedded, quality: await measureQuality(stage, await meaningBy('concepts')) };
}

export function searchText({ postgres, embedded, quality }: SearchResult): string {
  const rows = [...postgres.map((figures) => ({ on: 'PostgreSQL', ...figures })), ...embedded.map((figures) => ({ on: 'embedded', ...figures }))];
  const times = table(
    ['Search by', 'On', 'Chunks', "Of others", 'p50 ms', 'p95 ms', 'Longest ms', 'CPU ms', "PostgreSQL's"],
    rows.map((row) => [row.by, row.on, row.chunks, row.beside, row.p50Ms, row.p95Ms, row.longestMs, row.processorMs, row.databaseMs ?? 'inside']),
  );
  const found = table(
    ['Questions', 'Language', 'Asked', 'Answer first', 'Among the first five'],
    quality.map((row) => [`by ${row.by}`, row.language, row.questions, percent(row.recallAt1), percent(row.recallAt5)]),
  );
  return [times, found].join('\n\n');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
