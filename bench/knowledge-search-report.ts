import { searchEmbedded, type SearchFigures, searchOnPostgres } from './knowledge-search.ts';
import type { WriteLine } from './passes.ts';
import type { SearchPlan } from './plan.ts';
import type { Stage } from './stage.ts';
import { table } from './table.ts';

export interface SearchResult {
  readonly postgres: readonly SearchFigures[];
  readonly embedded: readonly SearchFigures[];
}

const DIMENSIONS = '1536';

/** One search at a time. */
export async function runSearch(stage: Stage, plan: SearchPlan, writeLine: WriteLine): Promise<SearchResult> {
  const tell = (line: string): void => writeLine(`search: ${line}`);
  const postgres = await searchOnPostgres(stage, plan, tell);
  if (plan.embeddedChunks === 0) return { postgres, embedded: [] };
  const { port } = await stage.startSite(1, DIMENSIONS);
  const address = `127.0.0.1:${port}`;
  const meaning = { EGRESS_ALLOW: address, EMBEDDINGS_BASE_URL: `http://${address}/v1`, EMBEDDINGS_MODEL: 'bench' };
  return { postgres, embedded: await searchEmbedded(stage, meaning, plan, tell) };
}

export function searchText({ postgres, embedded }: SearchResult): string {
  const rows = [
    ...postgres.map((figures) => ({ on: 'PostgreSQL', ...figures })),
    ...embedded.map((figures) => ({ on: 'embedded', ...figures })),
  ];
  return table(
    ['Search by', 'On', 'Chunks', 'Of others', 'p50 ms', 'p95 ms', 'Longest ms', 'CPU ms', "PostgreSQL's"],
    rows.map((row) => [
      row.by,
      row.on,
      row.chunks,
      row.beside,
      row.p50Ms,
      row.p95Ms,
      row.longestMs,
      row.processorMs,
      row.databaseMs ?? 'inside',
    ]),
  );
}
