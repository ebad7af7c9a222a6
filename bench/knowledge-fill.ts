import { randomUUID } from 'node:crypto';
import type * as ChunkTermsModule from '../src/knowledge/index/domain/chunk-terms.ts';
import type * as PostingsModule from '../src/knowledge/index/persistence/postings.sql.ts';
import type * as DatabaseModule from '../src/platform/database/index.ts';
import type { SqlExecutor } from '../src/platform/database/index.ts';
import { built } from './knowledge-stage.ts';
import { ZipfText } from './knowledge-text.ts';

const WORDS_A_CHUNK = 150;
const WORDS_A_HEADING = 3;
const CHUNKS_A_DOCUMENT = 4;
const DOCUMENTS_AT_ONCE = 128;

/** Writes chunks into the tables as `DocumentIndex` would store them, in a fraction of the time. */
export async function fillKnowledge(
  database: SqlExecutor,
  organizationId: string,
  agents: readonly string[],
  chunks: number,
): Promise<void> {
  for (const [seed, agentId] of agents.entries()) await fillAgent(database, organizationId, agentId, chunks, seed);
  await database.query('vacuum analyze');
}

async function fillAgent(
  database: SqlExecutor,
  organizationId: string,
  agentId: string,
  chunks: number,
  seed: number,
): Promise<void> {
  const text = new ZipfText(seed);
  for (let first = 0; first < chunks / CHUNKS_A_DOCUMENT; first += DOCUMENTS_AT_ONCE) {
    const documents = Array.from(
      { length: Math.min(DOCUMENTS_AT_ONCE, chunks / CHUNKS_A_DOCUMENT - first) },
      (_, index) => documentOf(text, `${seed}-${first + index}`),
    );
    await insertDocuments(database, organizationId, agentId, documents);
  }
}

type FilledDocument = ReturnType<typeof documentOf>;

function documentOf(text: ZipfText, key: string) {
  const chunks = Array.from({ length: CHUNKS_A_DOCUMENT }, (_, position) => {
    return {
      id: randomUUID(),
      position,
      heading: text.of(WORDS_A_HEADING).join(' '),
      text: text.of(WORDS_A_CHUNK).join(' '),
    };
  });
  return { id: randomUUID(), key, title: text.of(WORDS_A_HEADING).join(' '), chunks };
}

async function insertDocuments(
  database: SqlExecutor,
  organizationId: string,
  agentId: string,
  documents: readonly FilledDocument[],
): Promise<void> {
  const { TermAnalyzer } = await built<typeof ChunkTermsModule>('knowledge/index/domain/chunk-terms.js');
  const { statement } = await built<typeof DatabaseModule>('platform/database/index.js');
  const { insertTerms, reserveNumbers, TERMS, termParameters } = await built<typeof PostingsModule>(
    'knowledge/index/persistence/postings.sql.js',
  );
  await database.query(
    `insert into knowledge_documents (id, organization_id, agent_id, kind, key, key_digest, title, url, digest, revision, chunks, bytes, created_at, updated_at)
     select id, $1::uuid, $2::uuid, 'website', key, sha256(key::bytea), title, null, '', 1, $4::integer, 0, now(), now()
       from jsonb_to_recordset($3::text::jsonb) as t(id uuid, key text, title text)`,
    [
      organizationId,
      agentId,
      JSON.stringify(documents.map(({ id, key, title }) => ({ id, key, title }))),
      CHUNKS_A_DOCUMENT,
    ],
  );
  const analyzer = new TermAnalyzer('en');
  const chunks = documents.flatMap(({ id, title, chunks: own }) =>
    own.map((chunk) => ({ chunk: { ...chunk, document: id }, terms: analyzer.termsOf(title, chunk) })),
  );
  const partition = await reserveNumbers(
    database,
    { organizationId, agentId },
    { scope: null, chunks: chunks.length, language: 'en' },
  );
  const numbered = chunks.map(({ chunk, terms }, index) => ({ number: partition.firstNumber + index, terms, chunk }));
  const rows = numbered.map(({ chunk, number, terms }) => ({ ...chunk, number, length: terms.length }));
  const insert = statement(
    { organizationId: 'uuid', agentId: 'uuid', rows: 'jsonb', ...TERMS },
    (p) => `with ${insertTerms(p)}
     insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, heading, page, text, digest, valid_from, partition, number, length)
     select id, ${p.organizationId}, ${p.agentId}, document, position, heading, null, text, '', 1, ${p.partition}, number, length
       from jsonb_to_recordset(${p.rows}) as t(id uuid, document uuid, position integer, heading text, text text, number integer, length integer)`,
  );
  await insert.run(database, { organizationId, agentId, rows, ...termParameters(partition.id, numbered, true) });
}

/** Gives every chunk a different vector of the current model. */
export async function fillVectors(database: SqlExecutor, dimensions: number): Promise<void> {
  const [model] = await database.query<{ id: number }>(
    "update knowledge_embedding_models set dimensions = $1::integer where state = 'serving' returning id",
    [dimensions],
  );
  await database.query(
    `insert into knowledge_vectors (chunk_id, model_id, organization_id, agent_id, digest, embedding)
     select c.id, $1::integer, c.organization_id, c.agent_id, c.digest,
            (select array_agg((random() - 0.5)::real) from generate_series(1, $2::integer) where c.id is not null)::vector
       from knowledge_chunks c`,
    [model?.id ?? 0, dimensions],
  );
  await database.query('vacuum analyze knowledge_vectors');
}
