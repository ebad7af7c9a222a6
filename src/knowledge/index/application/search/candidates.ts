import { Injectable } from '@nestjs/common';
import { Database } from '../../../../platform/database/index.js';
import { HEADING_SEPARATOR } from '../../domain/chunker.js';
import type { SourceKind } from '../../domain/source-kind.js';
import { CANDIDATES, COMPARED_CANDIDATES } from '../../persistence/candidates.sql.js';
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
  /** Of the page with the anchor that is nearest above the chunk, where it has one. */
  readonly url: string | null;
  /** Those of `heading`, outermost first. */
  readonly headings: readonly string[];
  /** Of a PDF or a presentation, from 1. */
  readonly page: number | null;
  /** To the query, -1 to 1; null where the chunk has no vector. */
  readonly similarity: number | null;
}

/** What a query's vector is compared with. */
export interface Comparison {
  readonly modelId: number;
  readonly vector: readonly number[];
  /** The cosine that unrelated texts of the model have. */
  readonly unrelated: number;
}

type Row = Omit<Candidate, 'headings'> & { readonly anchor: string | null };

/** Reads chunks by their ids: those that there are, and that the user may see, in the order of their documents. */
@Injectable()
export class Candidates {
  constructor(private readonly database: Database) {}

  /** @param comparison undefined where nothing is to be compared */
  async read(
    { organizationId, agentId, userContext }: SearchScope,
    chunkIds: readonly string[],
    comparison: Comparison | undefined,
  ): Promise<Candidate[]> {
    const asked = { organizationId, agentId, userContext: userContext ?? {}, chunkIds };
    const rows = comparison
      ? await COMPARED_CANDIDATES.run<Row>(this.database, {
          ...asked,
          vector: vectorText(comparison.vector),
          modelId: comparison.modelId,
        })
      : await CANDIDATES.run<Row>(this.database, asked);
    return rows.map(({ anchor, ...row }) => ({
      ...row,
      url: addressOf(row.url, anchor),
      headings: row.heading?.split(HEADING_SEPARATOR) ?? [],
    }));
  }
}

function addressOf(url: string | null, anchor: string | null): string | null {
  if (url === null || anchor === null || !URL.canParse(url)) return url;
  const address = new URL(url);
  address.hash = anchor;
  return address.href;
}
