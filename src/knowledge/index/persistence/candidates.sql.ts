/** Hot path: every search reads its candidates with one of these statements. The ORM has no operators for scopes and vectors. */
import { type ParameterReferences, type SqlExecutor, statement } from '../../../platform/database/index.js';
import type { SearchScope } from '../application/search/search-scope.js';
import { HEADING_SEPARATOR } from '../domain/chunker.js';
import type { SourceKind } from '../domain/source-kind.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';
import { vectorText } from './vector.repository.js';

/** A chunk that may be a result, with everything that a result shows. */
export interface Candidate {
  readonly chunkId: string;
  readonly documentId: string;
  readonly kind: SourceKind;
  /** Of the document. */
  readonly title: string;
  /** The headings above it, outermost first, separated by ` › `; null if there are none. */
  readonly heading: string | null;
  readonly text: string;
  /** The address of the document, with the chunk's anchor if it has one. */
  readonly url: string | null;
  /** The parts of `heading`. */
  readonly headings: readonly string[];
  /** Of a PDF or a presentation, from 1. */
  readonly page: number | null;
  /** The cosine to the query, -1 to 1; null if the chunk has no vector. */
  readonly similarity: number | null;
}

/** The vector of a query. */
export interface QueryVector {
  readonly modelId: number;
  readonly vector: readonly number[];
  /** The cosine that unrelated texts of the model have. */
  readonly unrelated: number;
}

const CHUNKS = { organizationId: 'uuid', agentId: 'uuid', userContext: 'jsonb', chunkIds: 'uuid[]' } as const;

const candidates = (p: ParameterReferences<typeof CHUNKS>, similarity: string, vectors = ''): string => `
  select c.id::text as "chunkId", d.id::text as "documentId", d.kind, d.title, d.url, c.heading, c.anchor, c.page, c.text, ${similarity} as similarity
    from knowledge_chunks c join knowledge_documents d on d.id = c.document_id ${vectors}
   where c.organization_id = ${p.organizationId} and c.agent_id = ${p.agentId} and c.id = any(${p.chunkIds})
     and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ ${p.userContext})
   order by d.kind, d.key collate "C", c.position, c.id`;

const CANDIDATES = statement(CHUNKS, (p) => candidates(p, 'null'));

const COMPARED_CANDIDATES = statement({ ...CHUNKS, vector: 'text', modelId: 'integer' }, (p) =>
  candidates(
    p,
    `1 - (v.embedding <=> ${p.vector}::vector)`,
    `left join knowledge_vectors v on v.chunk_id = c.id and v.model_id = ${p.modelId}`,
  ),
);

type Row = Omit<Candidate, 'headings'> & { readonly anchor: string | null };

/** Reads chunks in the order of their documents, without those that the user must not see. @param query undefined to compare no vectors */
export async function readCandidates(
  executor: SqlExecutor,
  scope: SearchScope,
  chunkIds: readonly string[],
  query: QueryVector | undefined,
): Promise<Candidate[]> {
  if (chunkIds.length === 0) return [];
  const parameters = { ...scope, userContext: scope.userContext ?? {}, chunkIds };
  const rows = query
    ? await COMPARED_CANDIDATES.run<Row>(executor, { ...parameters, ...query, vector: vectorText(query.vector) })
    : await CANDIDATES.run<Row>(executor, parameters);
  return rows.map(({ anchor, ...row }) => {
    return { ...row, url: withAnchor(row.url, anchor), headings: row.heading?.split(HEADING_SEPARATOR) ?? [] };
  });
}

function withAnchor(url: string | null, anchor: string | null): string | null {
  if (url === null || anchor === null || !URL.canParse(url)) return url;
  const address = new URL(url);
  address.hash = anchor;
  return address.href;
}
