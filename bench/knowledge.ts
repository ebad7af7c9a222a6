import type { Floor, WriteLine } from './passes.ts';
import type { CrawlPlan } from './plan.ts';
import { type CrawlFigures, measureCrawls } from './knowledge-crawl.ts';
import type { Environment } from './processes.ts';
import type { ClusteredEnvironment, RunningService, Stage } from './stage.ts';

export interface KnowledgeResult {
  readonly mode: 'postgres' | 'embedded';
  readonly crawl: CrawlFigures;
}

/** Crawls a local site in both modes. One process serves the site and the embeddings endpoint. */
export async function runKnowledge(
  stage: Stage,
  floor: Floor,
  clustered: ClusteredEnvironment,
  plan: CrawlPlan,
  writeLine: WriteLine,
): Promise<KnowledgeResult[]> {
  const { port } = await stage.startSite(plan.pages);
  const address = `127.0.0.1:${port}`;
  const further = { EGRESS_ALLOW: address, EMBEDDINGS_BASE_URL: `http://${address}/v1`, EMBEDDINGS_MODEL: 'bench' };
  const measure = async (
    mode: KnowledgeResult['mode'],
    env: Environment,
    start: () => Promise<RunningService>,
  ): Promise<KnowledgeResult> => {
    const running = await start();
    const { origin, pid } = running.service;
    const service = { origin, pid, env, siteOrigin: `http://${address}` };
    const crawl = await measureCrawls(floor.load, service, plan, (line) => writeLine(`knowledge, ${mode}: ${line}`));
    await running.stop();
    return { mode, crawl };
  };
  const environment = { ...clustered, env: { ...clustered.env, ...further } };
  const results = [await measure('postgres', environment.env, () => stage.startClustered(environment))];
  if (plan.embedded) {
    const env = { ...stage.embeddedEnvironment(), ...further };
    results.push(await measure('embedded', env, () => stage.startEmbedded(env)));
  }
  return results;
}
