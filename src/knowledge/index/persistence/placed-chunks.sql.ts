/** Hot path: a search reads by the places of the best chunks which of them its user may see; chunks of a former version get theirs with their terms. */
import { type SqlExecutor, statement } from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import type { ChunkTerms } from '../domain/chunk-terms.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';
import { insertTerms, type Partition, TERMS, termParameters } from './postings.sql.js';

/** Where the postings of a chunk are. */
export interface ChunkPlace {
  readonly partition: number;
  readonly number: number;
}

/** Numbers come as text, since the two drivers encode arrays of them differently. */
const READ_PLACED = statement(
  { organizationId: 'uuid', agentId: 'uuid', userContext: 'jsonb', partitions: 'text', numbers: 'text' },
  (p) => `
  select c.id::text as "chunkId", (t.at - 1)::integer as at
    from unnest(string_to_array(${p.partitions}, ' ')::integer[], string_to_array(${p.numbers}, ' ')::integer[]) with ordinality as t(partition, number, at)
    join knowledge_chunks c on c.partition = t.partition and c.number = t.number join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId} and c.agent_id = ${p.agentId} and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ ${p.userContext})
   order by d.kind, d.key collate "C", c.position, c.id`,
);

/** @returns those of the chunks that the run may see, `at` their place in `places`, in the order of their documents */
export function readPlacedChunks(
  executor: SqlExecutor,
  { organizationId, agentId, userContext }: SearchScope,
  places: readonly ChunkPlace[],
): Promise<{ chunkId: string; at: number }[]> {
  if (places.length === 0) return Promise.resolve([]);
  const [partitions, numbers] = [
    places.map(({ partition }) => partition).join(' '),
    places.map(({ number }) => number).join(' '),
  ];
  return READ_PLACED.run(executor, { organizationId, agentId, userContext: userContext ?? {}, partitions, numbers });
}

const FIND_PLACES = statement(
  { organizationId: 'uuid', chunkIds: 'uuid[]' },
  (p) => `
  select id::text as "chunkId", partition, number from knowledge_chunks
   where organization_id = ${p.organizationId} and id = any(${p.chunkIds}) and number is not null`,
);

export function findPlaces(
  executor: SqlExecutor,
  organizationId: string,
  chunkIds: readonly string[],
): Promise<(ChunkPlace & { chunkId: string })[]> {
  return chunkIds.length === 0 ? Promise.resolve([]) : FIND_PLACES.run(executor, { organizationId, chunkIds });
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
export const READ_UNPLACED = statement(
  { limit: 'integer' },
  (p) => `
  select c.id::text as "chunkId", d.id::text as "documentId", d.organization_id::text as "organizationId", d.agent_id::text as "agentId", d.scope, d.title, c.heading, c.text
    from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
   where c.number is null and ${VISIBLE_CHUNK} order by c.document_id, c.position limit ${p.limit}`,
);

const PLACE_UNPLACED = statement(
  { organizationId: 'uuid', rows: 'jsonb', ...TERMS },
  (p) => `
  with ${insertTerms(p)}
  update knowledge_chunks c set partition = ${p.partition}, number = t.number, length = t.length
    from jsonb_to_recordset(${p.rows}) as t(id uuid, number integer, length integer), knowledge_documents d
   where c.organization_id = ${p.organizationId} and c.id = t.id and c.number is null and d.id = c.document_id and ${VISIBLE_CHUNK} returning c.id`,
);

/** @returns how many of the chunks were still visible and not placed: the transaction must not commit where that is not all of them */
export async function placeUnplaced(
  transaction: SqlExecutor,
  organizationId: string,
  partition: Partition,
  chunks: readonly (UnplacedChunk & { readonly terms: ChunkTerms })[],
): Promise<number> {
  const numbered = chunks.map(({ chunkId: id, terms }, index) => ({
    id,
    terms,
    number: partition.firstNumber + index,
  }));
  const rows = numbered.map(({ id, number, terms }) => ({ id, number, length: terms.length }));
  return (
    await PLACE_UNPLACED.run(transaction, { organizationId, rows, ...termParameters(partition.id, numbered, true) })
  ).length;
}
