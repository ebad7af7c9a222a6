/** Measures how many deliveries a second a worker makes to an endpoint that responds at once, and what one costs. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SqlExecutor } from '../src/platform/database/index.ts';
import { round } from './figures.ts';
import { openDatabaseOf } from './knowledge-stage.ts';
import type { WriteLine } from './passes.ts';
import type { WebhooksPlan } from './plan.ts';
import type { Environment, Service } from './processes.ts';
import { createKey, post } from './provision.ts';
import { processorMs } from './samples.ts';
import type { Stage } from './stage.ts';

export interface WebhooksResult {
  readonly on: 'PostgreSQL' | 'embedded';
  readonly deliveries: number;
  /** From the first request that the endpoint received to the last. */
  readonly perSecond: number;
  /** Processor time of a delivery: of the delivering process, and of the database if it can be measured. */
  readonly processorMs: number;
  readonly databaseMs: number | null;
  readonly connections: number;
}

/** Uses separate databases, so that other parts of the bench have no influence. */
export async function runWebhooks(stage: Stage, plan: WebhooksPlan, writeLine: WriteLine): Promise<WebhooksResult[]> {
  const tell = (line: string): void => writeLine(`webhooks: ${line}`);
  const results = [await onPostgres(stage, plan.deliveries, tell)];
  if (plan.embedded > 0) results.push(await onEmbedded(stage, plan.embedded, tell));
  return results;
}

async function onPostgres(stage: Stage, deliveries: number, tell: WriteLine): Promise<WebhooksResult> {
  const endpoint = await endpointOf(stage);
  const clustered = await stage.clusteredEnvironment();
  const own = { ...clustered.env, EGRESS_ALLOW: endpoint.host };
  const api = await stage.startApi({ ...clustered, env: own });
  const open = await openDatabaseOf(own);
  const postgres = await stage.databaseProcesses();
  try {
    await owe(open.database, await webhookOf(api, own, endpoint.host), deliveries);
    tell(`a worker makes ${deliveries} deliveries`);
    const before = postgres?.processorMs();
    const worker = await stage.startWorker(own);
    try {
      const figures = await measure(worker, endpoint, deliveries);
      const databaseMs =
        postgres && before !== undefined ? round((postgres.processorMs() - before) / deliveries, 2) : null;
      return { on: 'PostgreSQL', deliveries, ...figures, databaseMs };
    } finally {
      await worker.stop();
    }
  } finally {
    await open.close();
    await api.stop();
  }
}

/** The embedded database is in the delivering process, so the rows are written while that does not run. */
async function onEmbedded(stage: Stage, deliveries: number, tell: WriteLine): Promise<WebhooksResult> {
  const endpoint = await endpointOf(stage);
  const env = { ...stage.embeddedEnvironment(), EGRESS_ALLOW: endpoint.host };
  const filling = await stage.startEmbedded(env);
  const webhookId = await webhookOf(filling.service, env, endpoint.host);
  await filling.stop();
  const open = await openDatabaseOf(env);
  await owe(open.database, webhookId, deliveries);
  await open.close();
  const running = await stage.startEmbedded(env);
  try {
    tell(`the embedded default makes ${deliveries} deliveries`);
    return { on: 'embedded', deliveries, ...(await measure(running.service, endpoint, deliveries)), databaseMs: null };
  } finally {
    await running.stop();
  }
}

interface Endpoint {
  readonly host: string;
  readonly received: () => Promise<{ readonly calls: number; readonly connections: number }>;
}

async function endpointOf(stage: Stage): Promise<Endpoint> {
  const { port } = await stage.startHookServer();
  const host = `127.0.0.1:${port}`;
  const received: Endpoint['received'] = async () =>
    (await (await fetch(`http://${host}`)).json()) as Awaited<ReturnType<Endpoint['received']>>;
  return { host, received };
}

async function webhookOf(service: Service, env: Environment, host: string): Promise<string> {
  const body = { url: `http://${host}/events`, events: ['run.completed'] };
  return post(service.origin, await createKey(env), '/v1/webhooks', body);
}

/** Writes deliveries like those of runs. */
async function owe(database: SqlExecutor, webhookId: string, count: number): Promise<void> {
  await database.query(
    `insert into webhook_deliveries (endpoint_id, event_id, organization_id, agent_id, type, data, status, tries, attempts, created_at,
       next_attempt_at)
     select id, gen_random_uuid(), organization_id, gen_random_uuid(), 'run.completed',
       jsonb_build_object('assistant_id', gen_random_uuid(), 'thread_id', gen_random_uuid(), 'runId', gen_random_uuid()),
       'pending', 0, '[]', now(), now()
     from webhook_endpoints, generate_series(1, $2::int) where id = $1::uuid`,
    [webhookId, count],
  );
}

async function measure(
  service: Service,
  { received }: Endpoint,
  deliveries: number,
): Promise<Pick<WebhooksResult, 'perSecond' | 'processorMs' | 'connections'>> {
  const idle = processorMs(service.pid);
  const began = await until(async () => (await received()).calls > 0);
  const ended = await until(async () => (await received()).calls >= deliveries);
  const { connections } = await received();
  return {
    perSecond: round(deliveries / ((ended - began) / 1_000), 0),
    processorMs: round((processorMs(service.pid) - idle) / deliveries, 2),
    connections,
  };
}

/** @returns when the condition was true */
async function until(isSo: () => Promise<boolean>): Promise<number> {
  while (!(await isSo())) await sleep(20);
  return performance.now();
}
