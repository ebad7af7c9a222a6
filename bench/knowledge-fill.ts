import { createHash, randomUUID } from 'node:crypto';
import type { SqlExecutor } from '../src/platform/database/index.ts';
import { ZipfText } from './knowledge-text.ts';

const WORDS_A_CHUNK = 150;
const WORDS_A_HEADING = 3;
const CHUNKS_A_DOCUMENT = 4;
const DOCUMENTS_AT_ONCE = 100;
const SAMPLED_ONE_IN = 16;
const LOTS = 256;
const PART_LEVELS = 8;

interface Counted {
  sampled: number;
}

/** Writes chunks as `DocumentIndex` would have stored them, in a small part of its time: straight into the tables. */
export async function fillKnowledge(database: SqlExecutor, organizationId: string, agents: readonly string[], chunks: number): Promise<void> {
  for (const [seed, agentId] of agents.entries()) await fillAgent(database, organizationId, agentId, chunks, seed);
  await database.query('vacuum analyze');
}

async function fillAgent(database: SqlExecutor, organizationId: string, agentId: string, chunks: number, seed: number): Promise<void> {
  const [row] = await database.query<{ number: number }>(
    'insert into knowledge_vocabularies (agent_id, organization_id, chunks) values ($1::uuid, $2::uuid, $3::integer) returning number',
    [agentId, organizationId, chunks],
  );
  const number = row?.number ?? 0;
  const text = new ZipfText(seed);
  const terms = new Map<string, Counted>();
  for (let first = 0; first < chunks / CHUNKS_A_DOCUMENT; first += DOCUMENTS_AT_ONCE) {
    const documents = Array.from({ length: Math.min(DOCUMENTS_AT_ONCE, chunks / CHUNKS_A_DOCUMENT - first) }, (_, index) => documentOf(text, number, `${seed}-${first + index}`, terms));
    await insertDocuments(database, organizationId, agentId, documents);
  }
  const rows = [...terms].map(([term, { sampled }]) => ({ term, sampled }));
  await database.query(
    'insert into knowledge_terms (vocabulary, term, sampled) select $1::integer, term, sampled from jsonb_to_recordset($2::text::jsonb) as t(term text, sampled integer)',
    [number, JSON.stringify(rows)],
  );
}

type FilledDocument = ReturnType<typeof documentOf>;

function documentOf(text: ZipfText, vocabulary: number, key: string, terms: Map<string, Counted>) {
  const title = text.of(WORDS_A_HEADING);
  const chunks = Array.from({ length: CHUNKS_A_DOCUMENT }, (_, position) => {
    const [heading, words] = [text.of(WORDS_A_HEADING), text.of(WORDS_A_CHUNK)];
    const lot = createHash('sha256').update(words.join(' ')).digest();
    const sampled = (lot[0] ?? 0) < LOTS / SAMPLED_ONE_IN;
    const named = new Set([...title, ...heading]);
    const forms = new Set([...words, ...named]);
    for (const form of forms) {
      const term = terms.get(form) ?? { sampled: 0 };
      term.sampled += sampled ? 1 : 0;
      terms.set(form, term);
    }
    const lexemes = [...Array.from(forms, (form) => `${vocabulary}:${form}`), ...Array.from(named, (form) => `${vocabulary}^${form}`), ...partsOf(lot[1] ?? 0).map((level) => `${vocabulary}#${level}`)];
    return { id: randomUUID(), position, heading: heading.join(' '), text: words.join(' '), sampled, words: lexemes.join(' ') };
  });
  return { id: randomUUID(), key, title: title.join(' '), chunks };
}

function partsOf(lot: number): number[] {
  return Array.from({ length: PART_LEVELS }, (_, level) => level + 1).filter((level) => lot < 2 ** (PART_LEVELS - level));
}

async function insertDocuments(database: SqlExecutor, organizationId: string, agentId: string, documents: readonly FilledDocument[]): Promise<void> {
  await database.query(
    `insert into knowledge_documents (id, organization_id, agent_id, kind, key, key_digest, title, url, digest, revision, chunks, bytes, created_at, updated_at)
     select id, $1::uuid, $2::uuid, 'website', key, sha256(key::bytea), title, null, '', 1, $4::integer, 0, now(), now()
       from jsonb_to_recordset($3::text::jsonb) as t(id uuid, key text, title text)`,
    [organizationId, agentId, JSON.stringify(documents.map(({ id, key, title }) => ({ id, key, title }))), CHUNKS_A_DOCUMENT],
  );
  const chunks = documents.flatMap(({ id, chunks: own }) => own.map((chunk) => ({ ...chunk, document: id })));
  await database.query(
    `with given as materialized (
       select * from jsonb_to_recordset($3::text::jsonb) as t(id uuid, document uuid, position integer, heading text, text text, sampled boolean, words text)),
     inserted as (
       insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, heading, page, text, digest, valid_from)
       select id, $1::uuid, $2::uuid, document, position, heading, null, text, '', 1 from given)
     insert into knowledge_chunk_words (chunk_id, sampled, words) select id, sampled, array_to_tsvector(string_to_array(words, ' ')) from given`,
    [organizationId, agentId, JSON.stringify(chunks)],
  );
}

/** Gives every chunk a vector of the model that serves, each another one. */
export async function fillVectors(database: SqlExecutor, dimensions: number): Promise<void> {
  const [model] = await database.query<{ id: number }>("update knowledge_embedding_models set dimensions = $1::integer where state = 'serving' returning id", [dimensions]);
  await database.query(
    `insert into knowledge_vectors (chunk_id, model_id, organization_id, agent_id, digest, embedding)
     select c.id, $1::integer, c.organization_id, c.agent_id, c.digest,
            (select array_agg((random() - 0.5)::real) from generate_series(1, $2::integer) where c.id is not null)::vector
       from knowledge_chunks c`,
    [model?.id ?? 0, dimensions],
  );
  await database.query('vacuum analyze knowledge_vectors');
}
