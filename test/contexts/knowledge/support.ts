import { TermAnalyzer } from '../../../src/knowledge/index/domain/chunk-terms.js';
import { BLOCK_SIZE, readPostings, visibleLength } from '../../../src/knowledge/index/domain/postings.js';
import { VISIBLE_CHUNK } from '../../../src/knowledge/index/persistence/knowledge.schema.js';
import type { Block, ParsedDocument } from '../../../src/knowledge/parsing/domain/parsed-document.js';
import { DocumentIndex } from '../../../src/knowledge/index/application/indexing/document-index.js';
import type {
  IndexedDocument,
  IndexedSource,
  AcceptDocument,
} from '../../../src/knowledge/index/application/indexing/indexed-document.js';
import { type KeywordQuery, KeywordSearch } from '../../../src/knowledge/index/application/search/keyword-search.js';
import type { SearchScope } from '../../../src/knowledge/index/application/search/search-scope.js';
import type { TestService } from '../../support/harness.js';

export function text(...paragraphs: string[]): Block[] {
  return paragraphs.map((paragraph) => ({ kind: 'text', text: paragraph }));
}

export function parsed(blocks: readonly Block[], language: string | null = null): ParsedDocument {
  return { format: 'text', title: null, language, blocks, page: null };
}

/** Enough words for one chunk. */
export function filler(seed: string): string {
  const words = Array.from(
    { length: 150 },
    (_, index) => `${seed}${String.fromCharCode(97 + (index % 26))}${String.fromCharCode(97 + (index % 7))}`,
  );
  const text = Array.from({ length: 8 }, () => words.join(' ')).join(' ');
  return text.slice(0, text.lastIndexOf(' ', 1_000));
}

/** The knowledge of an agent of a new organization, through the classes of the service. */
export class Knowledge {
  constructor(
    readonly service: TestService,
    readonly organizationId: string,
    readonly agentId: string,
  ) {}

  /** The agent exists, because a job removes the documents of agents that do not. */
  static async start(service: TestService): Promise<Knowledge> {
    const organization = await service.organization();
    return new Knowledge(service, organization.id, await service.agent(organization.key));
  }

  get index(): DocumentIndex {
    return this.service.app.get(DocumentIndex);
  }

  source(key: string, changes: Partial<IndexedSource> = {}): IndexedSource {
    const { organizationId, agentId } = this;
    return {
      organizationId,
      agentId,
      kind: 'website',
      key,
      title: key,
      url: `https://site.test/${key}`,
      scope: null,
      ...changes,
    };
  }

  async put(
    key: string,
    blocks: readonly Block[],
    { accept, ...changes }: Partial<IndexedSource> & { accept?: AcceptDocument } = {},
  ): Promise<IndexedDocument> {
    const indexed = await this.index.put(this.source(key, changes), parsed(blocks), accept);
    if (!indexed) throw new Error('The document was not accepted');
    return indexed;
  }

  prepare(query: string, userContext: SearchScope['userContext'] = null): Promise<KeywordQuery> {
    const { organizationId, agentId } = this;
    return this.service.app.get(KeywordSearch).prepare({ organizationId, agentId, userContext }, query);
  }

  /** Keys of the documents that a query finds, best first. */
  async search(query: string, userContext: SearchScope['userContext'] = null): Promise<string[]> {
    const found = await (await this.prepare(query, userContext)).top(10);
    const rows = await this.service.database.query<{ id: string; key: string }>(
      'select c.id::text as id, d.key from knowledge_chunks c join knowledge_documents d on d.id = c.document_id where c.organization_id = $1::uuid',
      [this.organizationId],
    );
    return [...new Set(found.map(({ chunkId }) => rows.find(({ id }) => id === chunkId)?.key ?? ''))];
  }

  async documentIds(): Promise<string[]> {
    const rows = await this.service.database.query<{ id: string }>(
      'select id::text as id from knowledge_documents where agent_id = $1::uuid',
      [this.agentId],
    );
    return rows.map(({ id }) => id);
  }

  /** Ids and texts of a document's stored chunks, including those that no search finds. */
  chunks(documentId: string): Promise<{ id: string; text: string; position: number }[]> {
    return this.service.database.query(
      'select id::text as id, text, position from knowledge_chunks where document_id = $1::uuid order by position, id',
      [documentId],
    );
  }

  /** The terms by which keywords find each chunk, and the terms that the visible chunks should have. */
  async terms(): Promise<{ readonly stored: readonly string[]; readonly expected: readonly string[] }> {
    const { database } = this.service;
    const chunks = await database.query<{ place: string; title: string; heading: string | null; text: string }>(
      `select c.partition || ' ' || c.number as place, d.title, c.heading, c.text from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
        where c.agent_id = $1::uuid and ${VISIBLE_CHUNK}`,
      [this.agentId],
    );
    const rows = await database.query<{
      partition: number;
      block: number;
      lengths: Uint8Array;
      term: string;
      postings: Uint8Array;
    }>(
      `select b.partition, b.block, b.lengths, t.term, t.postings from knowledge_partitions p join knowledge_blocks b on b.partition = p.id
         join knowledge_postings t on t.partition = b.partition and t.block = b.block where p.agent_id = $1::uuid`,
      [this.agentId],
    );
    const stored = new Set<string>();
    for (const { partition, block, lengths, term, postings } of rows) {
      readPostings(postings, (slot) => {
        if (visibleLength(lengths, slot) > 0) stored.add(`${partition} ${block * BLOCK_SIZE + slot} ${term}`);
      });
    }
    const analyzer = new TermAnalyzer(null);
    const expected = chunks.flatMap(({ place, title, ...chunk }) =>
      [...analyzer.termsOf(title, chunk).terms.keys()].map((term) => `${place} ${term}`),
    );
    return { stored: [...stored].sort(), expected: expected.sort() };
  }
}
