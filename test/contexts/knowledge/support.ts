import type { Block, ParsedDocument } from '../../../src/knowledge/parsing/domain/parsed-document.js';
import { DocumentIndex, type IndexedDocument, type IndexedSource, type WithDocument } from '../../../src/knowledge/index/application/indexing/document-index.js';
import { type KeywordQuery, KeywordSearch } from '../../../src/knowledge/index/application/search/keyword-search.js';
import type { SearchScope } from '../../../src/knowledge/index/application/search/search-scope.js';
import type { TestService } from '../../support/harness.js';

export function text(...paragraphs: string[]): Block[] {
  return paragraphs.map((paragraph) => ({ kind: 'text', text: paragraph }));
}

export function parsed(blocks: readonly Block[], language: string | null = null): ParsedDocument {
  return { format: 'text', title: null, language, blocks, page: null };
}

/** As many words as make a chunk of their own. */
export function filler(seed: string): string {
  const words = Array.from({ length: 150 }, (_, index) => `${seed}${String.fromCharCode(97 + (index % 26))}${String.fromCharCode(97 + (index % 7))}`);
  const text = Array.from({ length: 8 }, () => words.join(' ')).join(' ');
  return text.slice(0, text.lastIndexOf(' ', 1_000));
}

/** The knowledge of one agent of an organization of its own, as the parts of the service use it. */
export class Knowledge {
  constructor(
    readonly service: TestService,
    readonly organizationId: string,
    readonly agentId: string,
  ) {}

  /** Of an agent that there is: what belongs to none is removed in the background. */
  static async start(service: TestService): Promise<Knowledge> {
    const organization = await service.organization();
    return new Knowledge(service, organization.id, await service.agent(organization.key));
  }

  get index(): DocumentIndex {
    return this.service.app.get(DocumentIndex);
  }

  source(key: string, changes: Partial<IndexedSource> = {}): IndexedSource {
    const { organizationId, agentId } = this;
    return { organizationId, agentId, kind: 'website', key, title: key, url: `https://site.test/${key}`, scope: null, ...changes };
  }

  async put(key: string, blocks: readonly Block[], { accept, ...changes }: Partial<IndexedSource> & { accept?: WithDocument } = {}): Promise<IndexedDocument> {
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

  /** Ids and texts of a document's stored chunks, also of those that are not seen. */
  chunks(documentId: string): Promise<{ id: string; text: string; position: number }[]> {
    return this.service.database.query('select id::text as id, text, position from knowledge_chunks where document_id = $1::uuid order by position, id', [documentId]);
  }

  /** The vocabulary as it is, and as it would be were it made of the stored chunks anew. */
  async vocabulary(): Promise<{ readonly stored: readonly object[]; readonly counted: readonly object[] }> {
    const stored = await this.service.database.query<object>(
      `select t.term, t.sampled from knowledge_terms t join knowledge_vocabularies v on v.number = t.vocabulary where v.agent_id = $1::uuid order by t.term`,
      [this.agentId],
    );
    const counted = await this.service.database.query<object>(
      `select split_part(l.lexeme, ':', 2) collate "C" as term, (count(*) filter (where w.sampled))::integer as sampled
         from knowledge_chunk_words w join knowledge_chunks c on c.id = w.chunk_id, unnest(tsvector_to_array(w.words)) l(lexeme)
        where c.agent_id = $1::uuid and l.lexeme like '%:%' group by 1 order by 1`,
      [this.agentId],
    );
    return { stored, counted };
  }
}
