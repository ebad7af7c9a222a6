import { describe, expect, it } from '@jest/globals';
import { HealthCheck } from '../../../src/platform/http/index.js';
import { glossaryContext } from '../../extending/src/glossary/index.js';
import { filesOfExample, filesShown } from '../../support/example-page.js';
import { until, useService } from '../../support/harness.js';
import { readPrometheusText, sampleOf } from '../../support/prometheus-text.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

interface TermList {
  readonly terms: readonly { readonly name: string; readonly definition: string; readonly summary: string | null }[];
}

class Present extends HealthCheck {
  readonly name: string = 'present';
  check(): Promise<void> {
    return Promise.resolve();
  }
}

class Absent extends Present {
  override readonly name = 'absent';
}

const service = useService({
  contexts: [
    glossaryContext,
    { name: 'present', modules: [], healthChecks: [Present] },
    { name: 'absent', modules: [], healthChecks: [Absent], enabled: () => false },
  ],
});

async function termsOf(key: string): Promise<TermList['terms']> {
  return (await service.http<TermList>('GET', '/v1/glossary/terms', { key })).body.terms;
}

describe('a context that is added as docs/extending/context.md tells', () => {
  const definition = 'A bicycle for hills. It has 24 gears.';

  it('has its table, its routes, its job and its event', async () => {
    const { key } = await service.organization();
    expect(await termsOf(key)).toEqual([]);

    const defined = await service.http('POST', '/v1/glossary/terms', { key, body: { name: 'Climber', definition } });
    expect(defined.status).toBe(201);

    await until(async () => (await termsOf(key))[0]?.summary !== null, 'a summary');
    expect(await termsOf(key)).toMatchObject([{ name: 'Climber', definition, summary: 'A bicycle for hills.' }]);
  });

  it('keeps the id of a word that is defined again, and makes its summary anew', async () => {
    const { key } = await service.organization();
    const define = async (text: string): Promise<unknown> =>
      (await service.http('POST', '/v1/glossary/terms', { key, body: { name: 'City', definition: text } })).body.id;
    const id = await define('For shops. And more.');
    expect(await define('For streets. And more.')).toBe(id);
    await until(async () => (await termsOf(key))[0]?.summary === 'For streets.', 'the summary of the new definition');
  });

  it('is asked by the agents of its organization, and of no other, and counts it', async () => {
    const own = await Talk.start(service);
    const other = await Talk.start(service);
    await service.http('POST', '/v1/glossary/terms', { key: own.key, body: { name: 'Climber', definition } });
    await until(async () => (await termsOf(own.key))[0]?.summary !== null, 'a summary');

    service.models.next(calls('look_up_term', { name: 'Climber' }), says('For hills.'));
    await own.run('What is a Climber?');
    expect((await own.messages()).at(-1)).toMatchObject({
      toolCalls: [{ name: 'look_up_term', output: 'A bicycle for hills.', status: 'completed' }],
    });
    const metrics = readPrometheusText((await service.http('GET', '/metrics')).text);
    const lookUps = (outcome: string) => sampleOf(metrics, 'agent_service_glossary_look_ups_total', { outcome });
    expect([lookUps('found'), lookUps('missing')]).toEqual([1, 0]);

    service.models.next(says('No idea.'));
    await other.run('What is a Climber?');
    expect(service.models.requests.at(-1)?.body).not.toHaveProperty('tools');
    expect(await termsOf(other.key)).toEqual([]);
  });

  it('is asked whether it is ready where it has a health check, and only where it is enabled', async () => {
    const { body } = await service.http<{ checks: Readonly<Record<string, string>> }>('GET', '/health/ready');
    expect(body.checks).toHaveProperty('present', 'ok');
    expect(body.checks).not.toHaveProperty('absent');
  });

  it('refuses what is not declared, as every route does', async () => {
    const organization = await service.organization();
    const body = { name: '', definition, colour: 'red' };
    expect(await service.http('POST', '/v1/glossary/terms', { key: organization.key, body })).toMatchObject({
      status: 400,
    });
    const chat = await organization.keyWith(['chat']);
    const refused = await service.http('POST', '/v1/glossary/terms', {
      key: chat.key,
      body: { name: 'a', definition },
    });
    expect(refused.status).toBe(403);
  });
});

describe('docs/extending/context.md', () => {
  it('shows the files of the example as they are', async () => {
    expect(filesShown('extending/context.md', 'glossary')).toEqual(await filesOfExample('glossary'));
  });
});
