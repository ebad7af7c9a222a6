/** Hot path: each search reads with these statements which of the best chunks its user may see, by their places in the postings. */
import { type SqlExecutor, statement } from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';

/** The place of a chunk's postings. */
interface ChunkPlace {
  readonly partition: number;
  readonly number: number;
}

/** Numbers are passed as text, since the two drivers encode arrays of them differently. */
const READ_PLACED = statement(
  { organizationId: 'uuid', agentId: 'uuid', userContext: 'jsonb', partitions: 'text', numbers: 'text' },
  (p) => `
  select c.id::text as "chunkId", (t.at - 1)::integer as at
    from unnest(string_to_array(${p.partitions}, ' ')::integer[], string_to_array(${p.numbers}, ' ')::integer[]) with ordinality as t(partition, number, at)
    join knowledge_chunks c on c.partition = t.partition and c.number = t.number join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId} and c.agent_id = ${p.agentId} and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ ${p.userContext})
   order by d.kind, d.key collate "C", c.position, c.id`,
);

/** @returns the chunks that the run may see, in the order of their documents; `at` is the index of the chunk's place in `places` */
export async function readPlacedChunks(
  executor: SqlExecutor,
  scope: SearchScope,
  places: readonly ChunkPlace[],
): Promise<{ chunkId: string; at: number }[]> {
  if (places.length === 0) return [];
  return READ_PLACED.run(executor, {
    ...scope,
    userContext: scope.userContext ?? {},
    partitions: places.map(({ partition }) => partition).join(' '),
    numbers: places.map(({ number }) => number).join(' '),
  });
}

const FIND_PLACES = statement(
  { organizationId: 'uuid', chunkIds: 'uuid[]' },
  (p) => `
  select id::text as "chunkId", partition, number from knowledge_chunks
   where organization_id = ${p.organizationId} and id = any(${p.chunkIds}) and number is not null`,
);

export async function findPlaces(
  executor: SqlExecutor,
  organizationId: string,
  chunkIds: readonly string[],
): Promise<(ChunkPlace & { chunkId: string })[]> {
  return chunkIds.length === 0 ? [] : FIND_PLACES.run(executor, { organizationId, chunkIds });
}
