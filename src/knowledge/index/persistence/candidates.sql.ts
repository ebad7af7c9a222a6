/** Hot path: every search reads its candidates with one of these statements. The ORM has no operators for scopes and vectors. */
import { statement } from '../../../platform/database/index.js';
import { VISIBLE_CHUNK } from './knowledge.schema.js';

const ASKED = { organizationId: 'uuid', agentId: 'uuid', userContext: 'jsonb', chunkIds: 'uuid[]' } as const;
type References = { readonly [Name in keyof typeof ASKED]: string };

const candidates = (p: References, similarity: string, vectors = ''): string => `
  select c.id::text as "chunkId", d.id::text as "documentId", d.kind, d.title, d.url, c.heading, c.anchor, c.page, c.text, ${similarity} as similarity
    from knowledge_chunks c join knowledge_documents d on d.id = c.document_id ${vectors}
   where c.organization_id = ${p.organizationId} and c.agent_id = ${p.agentId} and c.id = any(${p.chunkIds})
     and ${VISIBLE_CHUNK} and (d.scope is null or d.scope <@ ${p.userContext})
   order by d.kind, d.key collate "C", c.position, c.id`;

export const CANDIDATES = statement(ASKED, (p) => candidates(p, 'null'));

export const COMPARED_CANDIDATES = statement({ ...ASKED, vector: 'text', modelId: 'integer' }, (p) =>
  candidates(
    p,
    `1 - (v.embedding <=> ${p.vector}::vector)`,
    `left join knowledge_vectors v on v.chunk_id = c.id and v.model_id = ${p.modelId}`,
  ),
);
