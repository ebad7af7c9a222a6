/**
 * Hot path: each page of a crawl, drive file and upload is read and stored with these statements. The embedded database takes longer to
 * start a statement than to execute it, so one statement reads a document with its chunks, and one stores it with its new chunks and terms.
 */
import { type ParameterReferences, statement } from '../../../platform/database/index.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';
import { insertTerms, TERMS } from './postings.sql.js';

/** `chunks` is the JSON of `ChunkRow[]`; null if there are none, or if the document already has the digest. */
export const READ_DOCUMENT = statement(
  { organizationId: 'uuid', agentId: 'uuid', kind: 'text', keyDigest: 'bytea', digest: 'text', scopeDigest: 'text' },
  (p) => `
  select d.id::text as id, encode(d.digest, 'hex') as digest, d.revision, d.writer::text as writer,
         case when d.digest <> decode(${p.digest}, 'hex') then (
           select json_agg(json_build_object('id', c.id, 'digest', encode(c.digest, 'hex'), 'position', c.position, 'anchor', c.anchor, 'page', c.page,
                    'validFrom', c.valid_from, 'validUntil', c.valid_until, 'isPlaced', coalesce(p.scope_digest = decode(${p.scopeDigest}, 'hex'), false)) order by c.position, c.id)
             from knowledge_chunks c left join knowledge_partitions p on p.id = c.partition
            where c.organization_id = ${p.organizationId} and c.document_id = d.id)::text end as chunks
    from knowledge_documents d
   where d.organization_id = ${p.organizationId} and d.agent_id = ${p.agentId} and d.kind = ${p.kind} and d.key_digest = ${p.keyDigest}`,
);

/** Every run asks for it. */
export const HAS_CHUNKS = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `
  select exists (
    select 1 from knowledge_documents where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and chunks > 0
  ) as found`,
);

/** Reads where the postings of a document's chunks are, and whether searches may find them. */
export const READ_PLACES = statement(
  { organizationId: 'uuid', documentId: 'uuid' },
  (p) => `
  select c.partition, c.number, c.length, ${VISIBLE_CHUNK} as "isVisible" from knowledge_chunks c join knowledge_documents d on d.id = c.document_id
   where c.organization_id = ${p.organizationId} and c.document_id = ${p.documentId} and c.number is not null`,
);

/** @param chunks JSON of `ChangedChunk[]`, which the next revision shows */
export const CHANGE_CHUNKS = statement(
  { organizationId: 'uuid', documentId: 'uuid', chunks: 'jsonb', validUntil: 'integer' },
  (p) => `
  update knowledge_chunks c set position = t.position, anchor = t.anchor, page = t.page, valid_until = ${p.validUntil}
    from jsonb_to_recordset(${p.chunks}) as t(id uuid, position integer, anchor text, page integer)
   where c.organization_id = ${p.organizationId} and c.document_id = ${p.documentId} and c.id = t.id`,
);

export const DELETE_CHUNKS = statement(
  { organizationId: 'uuid', documentId: 'uuid', ids: 'uuid[]' },
  (p) => `
  delete from knowledge_chunks where organization_id = ${p.organizationId} and document_id = ${p.documentId} and id = any(${p.ids})
  returning partition, number`,
);

/** `rows` are chunks that the document has since its revision `validFrom`. */
const NEW_CHUNKS = { organizationId: 'uuid', agentId: 'uuid', validFrom: 'integer', rows: 'jsonb', ...TERMS } as const;

/** @param document a statement that returns the document's id. If it returns none, only terms are written, and the transaction must not commit */
const withChunks = (p: ParameterReferences<typeof NEW_CHUNKS>, document: string): string => `
  with document as (${document}),
  chunks as (
    insert into knowledge_chunks (id, organization_id, agent_id, document_id, position, heading, anchor, page, text, digest, valid_from, partition, number, length)
    select t.id, ${p.organizationId}, ${p.agentId}, document.id, t.position, t.heading, t.anchor, t.page, t.text, decode(t.digest, 'hex'), ${p.validFrom},
           ${p.partition}, t.number, t.length
      from document, jsonb_to_recordset(${p.rows})
        as t(id uuid, position integer, heading text, anchor text, page integer, text text, digest text, number integer, length integer)),
  ${insertTerms(p)}
  select id::text as id from document`;

export const INSERT_CHUNKS = statement({ ...NEW_CHUNKS, id: 'uuid' }, (p) => withChunks(p, `select ${p.id} as id`));

const SHOWN = {
  id: 'uuid',
  title: 'text',
  url: 'text',
  scope: 'jsonb',
  digest: 'bytea',
  chunks: 'integer',
  bytes: 'integer',
  now: 'timestamptz',
} as const;

/** Changes nothing unless the document still has the revision that the caller has read. */
export const SHOW_NEXT_REVISION = statement({ ...NEW_CHUNKS, ...SHOWN, seenRevision: 'integer' }, (p) =>
  withChunks(
    p,
    `update knowledge_documents set revision = revision + 1, title = ${p.title}, url = ${p.url}, scope = ${p.scope}, digest = ${p.digest}, chunks = ${p.chunks},
            bytes = ${p.bytes}, updated_at = ${p.now}
      where organization_id = ${p.organizationId} and id = ${p.id} and revision = ${p.seenRevision} and writer is null returning id`,
  ),
);

export const SHOW_NEW_DOCUMENT = statement(
  { ...NEW_CHUNKS, ...SHOWN, kind: 'text', key: 'text', keyDigest: 'bytea' },
  (p) =>
    withChunks(
      p,
      `insert into knowledge_documents (id, organization_id, agent_id, kind, key, key_digest, title, url, scope, digest, revision, chunks, bytes, created_at, updated_at)
     values (${p.id}, ${p.organizationId}, ${p.agentId}, ${p.kind}, ${p.key}, ${p.keyDigest}, ${p.title}, ${p.url}, ${p.scope}, ${p.digest}, 1,
             ${p.chunks}, ${p.bytes}, ${p.now}, ${p.now})
     on conflict (agent_id, kind, key_digest) do nothing returning id`,
    ),
);

/** Adds up columns, which the ORM cannot do without a fragment of SQL. */
export const MEASURE_USAGE = statement(
  { organizationId: 'uuid', agentId: 'uuid', kind: 'text' },
  (p) => `
  select coalesce(sum(chunks), 0)::double precision as chunks, coalesce(sum(bytes), 0)::double precision as bytes from knowledge_documents
   where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and kind = ${p.kind}`,
);
