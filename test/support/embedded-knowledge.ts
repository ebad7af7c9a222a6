import { AgentDirectory } from '../../src/agents/index.js';
import { DocumentIndex } from '../../src/knowledge/index/application/indexing/document-index.js';
import {
  type KnowledgeQuery,
  type KnowledgeResult,
  SearchKnowledge,
} from '../../src/knowledge/index/application/search/search-knowledge.js';
import { toDate } from '../../src/platform/database/index.js';
import { OutboxRelay } from '../../src/platform/jobs/outbox-relay.js';
import type { TestOrganization, TestService } from './harness.js';
import type { ShiftedClock } from './shifted-clock.js';
import { until } from './until.js';

export interface TestDocument {
  readonly key: string;
  readonly title?: string;
  /** Each becomes a chunk. */
  readonly texts: readonly string[];
  readonly scope?: Readonly<Record<string, string | number | boolean>> | null;
}

/** Puts a document into an agent's knowledge, as its sources do. */
export async function putDocument(
  { app }: TestService,
  organization: Pick<TestOrganization, 'id'>,
  agentId: string,
  { key, title = 'Handbook', texts, scope = null }: TestDocument,
): Promise<void> {
  const blocks = texts.flatMap((text, index) => [...partOf(texts, index), { kind: 'text' as const, text }]);
  await app
    .get(DocumentIndex, { strict: false })
    .put(
      { organizationId: organization.id, agentId, kind: 'upload', key, title, url: null, scope },
      { format: 'text', title: null, language: null, blocks, page: null },
    );
}

/** A heading of its own keeps each of several texts in a chunk of its own, however short it is. */
function partOf({ length }: readonly string[], index: number): { kind: 'heading'; level: number; text: string }[] {
  return length > 1 ? [{ kind: 'heading', level: 1, text: `Part ${String(index + 1)}` }] : [];
}

/** Runs a search of the agent. */
export async function search(
  { app }: TestService,
  organization: Pick<TestOrganization, 'id'>,
  agentId: string,
  query: string,
  more: Partial<KnowledgeQuery> = {},
): Promise<readonly KnowledgeResult[]> {
  const agent = await app.get(AgentDirectory, { strict: false }).find(organization.id, agentId);
  if (!agent) throw new Error(`No agent ${agentId}`);
  const request = { query, userContext: null, ...more };
  return app.get(SearchKnowledge, { strict: false }).execute(agent, request, new AbortController().signal);
}

/** Counts the chunks of an agent, those with a vector by model and state, and those marked as impossible to embed. */
export async function vectorsOf(
  { database }: TestService,
  agentId: string,
): Promise<{ chunks: number; models: Record<string, number>; unembeddable: number }> {
  const [row] = await database.query<{ chunks: number; unembeddable: number }>(
    `select (select count(*)::int from knowledge_chunks where agent_id = $1::uuid) as chunks,
            (select count(*)::int from knowledge_vectors where agent_id = $1::uuid and embedding is null) as unembeddable`,
    [agentId],
  );
  const models = await database.query<{ name: string; count: number }>(
    `select m.name || ' ' || m.state as name, count(*)::int as count from knowledge_vectors v
       join knowledge_embedding_models m on m.id = v.model_id where v.agent_id = $1::uuid group by 1`,
    [agentId],
  );
  return {
    chunks: row?.chunks ?? 0,
    unembeddable: row?.unembeddable ?? 0,
    models: Object.fromEntries(models.map(({ name, count }) => [name, count])),
  };
}

/** Resolves when every chunk of the agent has a vector of the model or is marked as impossible to embed. */
export async function untilEmbedded(
  service: TestService,
  agentId: string,
  { model = 'test-1 serving', clock }: { model?: string; clock?: ShiftedClock } = {},
): Promise<void> {
  await until(async () => {
    if (clock) await skipPause(service, agentId, clock);
    const { chunks, models } = await vectorsOf(service, agentId);
    return chunks > 0 && models[model] === chunks;
  }, `every chunk has a vector of ${model}`);
}

/** Advances the clock to the next attempt after a failure, if one is scheduled. */
async function skipPause({ app, database }: TestService, agentId: string, clock: ShiftedClock): Promise<void> {
  const [paused] = await database.query<{ at: string }>(
    `select available_at as at from outbox where name = 'knowledge.embed-chunks' and dedupe_key = $1 and state = 'pending'
        and started_at is null and (payload ->> 'failures')::integer > 0`,
    [agentId],
  );
  const pause = paused ? toDate(paused.at).getTime() - clock.now().getTime() : 0;
  if (pause <= 0) return;
  clock.moveOn(pause);
  app.get(OutboxRelay, { strict: false }).trigger();
}
