import type { SqlExecutor } from '../../../platform/database/index.js';
import type { ChunkTerms } from '../domain/chunk-terms.js';
import type { SearchScope } from '../application/search/search-scope.js';
import { uuids } from './arrays.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';
import { insertTermsParameters, insertTermsSql, type Partition } from './postings.sql.js';

/** Where the postings of a chunk are. */
export interface ChunkPlace {
  readonly partition: number;
  readonly number: number;
}

/** @returns those of the chunks that the run may see, `at` their place in `places`, in the order of their documents */
export function readPlacedChunks(executor: SqlExecutor, { organizationId, agentId, userContext }: SearchScope, places: readonly ChunkPlace[]): Promise<{ chunkId: string; at: number }[]> {
  if (places.length === 0) return Promise.resolve([]);
  return executor.query(
    `select c.id::text as "chunkId", (t.at - 1)::integer as at
       from unnest(string_to_array($4::text, ' ')::integer[], string_to_array($5::text, ' ')::integer[]) with ordinality as t(partition, number, at)
       join knowledge_chunks c on c.partition = t.partition and c.number = t.number join knowledge_documents d on d.id = c.document_id
      where c.organization_id = $1::uuid and c.agent_id = $2::uuid and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ $3::text::jsonb)
      order by d.kind, d.key collate "C", c.position, c.id`,
    [organizationId, agentId, JSON.stringify(userContext ?? {}), places.map(({ partition }) => partition).join(' '), places.map(({ number }) => number).join(' ')],
  );
}

export function findPlaces(executor: SqlExecutor, organizationId: string, chunkIds: readonly string[]): Promise<(ChunkPlace & { chunkId: string })[]> {
  if (chunkIds.length === 0) return Promise.resolve([]);
  return executor.query(
    'select id::text as "chunkId", partition, number from knowledge_chunks where organization_id = $1::uuid and id = any($2::text::uuid[]) and number is not null',
    [organizationId, uuids(chunkIds)],
  );
}

/** A visible chunk that keywords do not find: a former version of the service has written it. */
export interface UnplacedChunk {
  readonly chunkId: string;
  readonly documentId: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly scope: Readonly<Record<string, string | number | boolean>> | null;
  readonly title: string;
  readonly heading: string | null;
  readonly text: string;
}

/** Of all organizations; those of a document one after the other. */
export function readUnplacedChunks(executor: SqlExecutor, limit: number): Promise<UnplacedChunk[]> {
  return executor.query<UnplacedChunk>(
    `select c.id::text as "chunkId", d.id::text as "documentId", d.organization_id::text as "organizationId", d.agent_id::text as "agentId", d.scope, d.title, c.heading, c.text
       from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
      where c.number is null and ${VISIBLE_CHUNK} order by c.document_id, c.position limit $1::integer`,
    [limit],
  );
}

/** @returns how many of the chunks were still visible and not placed: the transaction must not commit where that is not all of them */
export async function placeUnplaced(
  transaction: SqlExecutor,
  organizationId: string,
  partition: Partition,
  chunks: readonly { readonly chunkId: string; readonly terms: ChunkTerms }[],
): Promise<number> {
  const numbered = chunks.map(({ chunkId, terms }, index) => ({ chunkId, terms, number: partition.firstNumber + index }));
  const rows = numbered.map(({ chunkId, terms, number }) => ({ id: chunkId, number, length: terms.length }));
  const placed = await transaction.query(
    `with ${insertTermsSql(3)}
     update knowledge_chunks c set partition = $3::integer, number = t.number, length = t.length
       from jsonb_to_recordset($2::text::jsonb) as t(id uuid, number integer, length integer), knowledge_documents d
      where c.organization_id = $1::uuid and c.id = t.id and c.number is null and d.id = c.document_id and ${VISIBLE_CHUNK} returning c.id`,
    [organizationId, JSON.stringify(rows), ...insertTermsParameters(partition.id, numbered, true)],
  );
  return placed.length;
}
