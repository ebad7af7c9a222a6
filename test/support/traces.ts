import { PublishTraces } from '../../src/observability/jobs/publish-traces.job.js';
import { newId } from '../../src/platform/ids/index.js';
import type { TestService } from './harness.js';

/** Publishes what has ended two minutes before, as the job does every half minute. @returns how many */
export function publishTraces({ app }: TestService, signal = new AbortController().signal): Promise<number> {
  return app.get(PublishTraces).execute(signal);
}

export interface MadeTraces {
  readonly organizationId: string;
  readonly agentId: string;
  readonly threadId: string;
  readonly count: number;
  /** Of the newest; each further one started `everyMs` before. */
  readonly newest: Date;
  readonly everyMs: number;
}

/** Traces as runs leave them, without the runs: many at once. @returns their ids, newest first */
export async function makeTraces({ database }: TestService, made: MadeTraces): Promise<string[]> {
  const ids = Array.from({ length: made.count }, () => newId());
  await database.query(
    `insert into traces (id, organization_id, agent_id, thread_id, message_id, channel, provider, model, status, started_at, latency_ms,
       time_to_first_token_ms, input_tokens, output_tokens, credits, input, output, steps, ended_at, stored_bytes)
     select id, $2::uuid, $3::uuid, $4::uuid, id, 'api', 'anthropic', 'm', 'completed', started_at, 1000, 100, 10, 5, 0.25, 'in', 'out', '[]',
       started_at + interval '1 second', 500
     from (select id, $5::timestamptz - (nth - 1) * $6::float8 * interval '1 millisecond' as started_at
           from unnest($1::uuid[]) with ordinality made (id, nth)) made`,
    [ids, made.organizationId, made.agentId, made.threadId, made.newest.toISOString(), made.everyMs],
  );
  return ids;
}
