import { Injectable } from '@nestjs/common';
import { Database } from '../../../../platform/database/index.js';
import type { SourceKind } from '../../domain/source-kind.js';
import { uuids } from '../../persistence/arrays.js';
import { VISIBLE_CHUNK } from '../../persistence/knowledge.schema.js';
import { vectorText } from '../../persistence/vector.repository.js';
import type { SearchScope } from './search-scope.js';

/** A chunk that may be an answer, with all that is shown of it. */
export interface Candidate {
  readonly chunkId: string;
  readonly documentId: string;
  readonly kind: SourceKind;
  /** Of the document. */
  readonly title: string;
  /** The headings above it, outermost first, separated by ` › `; null where there are none. */
  readonly heading: string | null;
  readonly text: string;
  readonly url: string | null;
  readonly page: number | null;
  /** To the query, -1 to 1; null where the chunk has no vector. */
  readonly similarity: number | null;
}

/** What a query's vector is compared with. */
export interface Comparison {
  readonly modelId: number;
  readonly vector: readonly number[];
}

const COLUMNS = `c.id::text as "chunkId", d.id::text as "documentId", d.kind, d.title, d.url, c.heading, c.page, c.text`;
const FROM = `from knowledge_chunks c join knowledge_documents d on d.id = c.document_id`;
const WHERE = `where c.organization_id = $1::uuid and c.agent_id = $2::uuid and c.id = any($4::text[]::uuid[])
  and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ $3::text::jsonb)
  order by d.kind, d.key collate "C", c.position, c.id`;

/** Reads chunks by their ids: those that there are, and that the user may see, whoever has named them; in the order of their documents. */
@Injectable()
export class Candidates {
  constructor(private readonly database: Database) {}

  /** @param comparison undefined where nothing is to be compared */
  read({ organizationId, agentId, userContext }: SearchScope, chunkIds: readonly string[], comparison: Comparison | undefined): Promise<Candidate[]> {
    const parameters = [organizationId, agentId, JSON.stringify(userContext ?? {}), uuids(chunkIds)];
    if (!comparison) return this.database.query<Candidate>(`select ${COLUMNS}, null as similarity ${FROM} ${WHERE}`, parameters);
    return this.database.query<Candidate>(
      `select ${COLUMNS}, 1 - (v.embedding <=> $5::vector) as similarity ${FROM}
         left join knowledge_vectors v on v.chunk_id = c.id and v.model_id = $6::integer ${WHERE}`,
      [...parameters, vectorText(comparison.vector), comparison.modelId],
    );
  }
}
