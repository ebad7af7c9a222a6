/**
 * Hot path: a chat completion creates its thread, and an AG-UI client names its thread by an external id in every
 * request. Written by hand because a run waits for these statements: each is one round trip, and the database plans
 * each text once.
 */
import { statement } from '../../platform/database/index.js';
import { THREAD_EXISTS } from './thread.sql.js';

/** The lock waits for a deletion of the agent that is under way: its job would not see a thread inserted now. */
export const INSERT_THREAD = statement(
  {
    id: 'uuid',
    organizationId: 'uuid',
    agentId: 'uuid',
    title: 'text',
    channel: 'text',
    externalId: 'text',
    createdAt: 'timestamptz',
    lastMessageAt: 'timestamptz',
  },
  (p) => `
  insert into threads
    (id, organization_id, agent_id, title, channel, external_id, created_at, updated_at, last_message_at)
  select ${p.id}, ${p.organizationId}, agents.id, ${p.title}, ${p.channel}, ${p.externalId}, ${p.createdAt},
         ${p.createdAt}, ${p.lastMessageAt}
  from (select id from agents where organization_id = ${p.organizationId} and id = ${p.agentId} for key share) agents
  on conflict (agent_id, external_id) where external_id is not null do nothing
  returning id`,
);

/** The insert numbers the rows (`seq`) in the order of the select, so messages keep their order across batches too. */
export const INSERT_MESSAGES = statement(
  {
    organizationId: 'uuid',
    threadId: 'uuid',
    createdAt: 'timestamptz',
    ids: 'uuid[]',
    roles: 'text[]',
    contents: 'text[]',
    /** Each is JSON. */
    attachments: 'text[]',
    clientIds: 'text[]',
    /** Each is JSON. */
    toolCalls: 'text[]',
    transcripts: 'text[]',
  },
  (p) => `
  insert into messages (id, organization_id, thread_id, role, content, status, created_at, attachments, client_id,
                        tool_calls, transcript)
  select sent.id, ${p.organizationId}, ${p.threadId}, sent.role, sent.content, 'completed', ${p.createdAt},
         sent.attachments::jsonb, sent.client_id, sent.tool_calls::jsonb, sent.transcript::jsonb
  from unnest(${p.ids}, ${p.roles}, ${p.contents}, ${p.attachments}, ${p.clientIds}, ${p.toolCalls}, ${p.transcripts})
    with ordinality as sent(id, role, content, attachments, client_id, tool_calls, transcript, position)
  order by sent.position`,
);

export const FIND_BY_EXTERNAL_ID = statement(
  { organizationId: 'uuid', agentId: 'uuid', externalId: 'text' },
  (p) => `
  select id from threads
  where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and external_id = ${p.externalId}
    and ${THREAD_EXISTS}`,
);
