/**
 * Hot path: a chat completion brings its thread along, and a client that chooses the ids of its threads names the thread by
 * that id in every message. Written by hand because these statements stand between a message and its run: each is one
 * round trip with a plan made once.
 */
import { statement } from '../../platform/database/index.js';
import { IS_THERE } from './thread.sql.js';

/** The lock lets a deletion of the agent that is under way end first: its job would not see this thread. */
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

/** The rows are numbered in the order in which they are selected, and the statements follow one another. */
export const INSERT_MESSAGES = statement(
  {
    organizationId: 'uuid',
    threadId: 'uuid',
    createdAt: 'timestamptz',
    ids: 'uuid[]',
    roles: 'text[]',
    contents: 'text[]',
    /** JSON, each. */
    attachments: 'text[]',
    clientIds: 'text[]',
  },
  (p) => `
  insert into messages (id, organization_id, thread_id, role, content, status, created_at, attachments, client_id)
  select said.id, ${p.organizationId}, ${p.threadId}, said.role, said.content, 'completed', ${p.createdAt},
         said.attachments::jsonb, said.client_id
  from unnest(${p.ids}, ${p.roles}, ${p.contents}, ${p.attachments}, ${p.clientIds}) with ordinality
    as said(id, role, content, attachments, client_id, position)
  order by said.position`,
);

export const FIND_BY_EXTERNAL_ID = statement(
  { organizationId: 'uuid', agentId: 'uuid', externalId: 'text' },
  (p) => `
  select id from threads
  where organization_id = ${p.organizationId} and agent_id = ${p.agentId} and external_id = ${p.externalId}
    and ${IS_THERE}`,
);
