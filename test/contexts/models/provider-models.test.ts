import { describe, expect, it } from '@jest/globals';
import { PROVIDER_BODIES, PROVIDER_TYPES } from '../../../src/models/index.js';
import { useService } from '../../support/harness.js';

interface ProviderModel {
  readonly provider: string;
  readonly id: string;
  readonly default: boolean;
  readonly ownKeyOnly: boolean;
  readonly temperature: boolean;
  readonly thinking: string;
  readonly contextTokens: number;
}

interface Schema {
  readonly properties: Readonly<Record<string, { readonly description?: string; readonly enum?: readonly string[] }>>;
}

const service = useService();

async function listed(): Promise<readonly ProviderModel[]> {
  const { key } = await service.organization();
  const { status, body } = await service.http<{ models: ProviderModel[] }>('GET', '/v1/provider-models', { key });
  expect(status).toBe(200);
  return body.models;
}

async function schemas(): Promise<Readonly<Record<string, Schema>>> {
  const { body } = await service.http<{ components: { schemas: Record<string, Schema> } }>('GET', '/v1/openapi.json');
  return body.components.schemas;
}

describe('GET /v1/provider-models', () => {
  it('needs a credential and no capability', async () => {
    expect((await service.http('GET', '/v1/provider-models')).status).toBe(401);
    const organization = await service.organization();
    const { key } = await organization.keyWith(['chat']);
    expect((await service.http('GET', '/v1/provider-models', { key })).status).toBe(200);
  });

  it('describes the abilities and the price of each model', async () => {
    const models = await listed();
    expect(models.find(({ id }) => id === 'claude-sonnet-5-5')).toEqual({
      ...{ provider: 'anthropic', id: 'claude-sonnet-5-5', family: 'claude', default: true, ownKeyOnly: false },
      ...{ contextTokens: expect.any(Number), temperature: false, thinking: 'adaptive' },
      credits: { input: 200, cachedInput: 20, output: 1_000 },
    });
    expect(models.find(({ id }) => id === 'gpt-5.2-pro')).toMatchObject({
      family: 'openai',
      ownKeyOnly: true,
      thinking: 'none',
    });
    expect(models.find(({ id }) => id === 'gemini-4-carbon')).toMatchObject({
      family: 'gemini',
      temperature: false,
      thinking: 'always',
    });
    expect(models.find(({ id }) => id === 'claude-haiku-4-5')).toMatchObject({ temperature: true, thinking: 'budget' });
    expect(models.map(({ contextTokens }) => contextTokens >= 100_000)).not.toContain(false);
  });

  it('lists exactly the models that agents can have, and the default of each provider', async () => {
    const { key } = await service.organization();
    const models = await listed();
    for (const type of PROVIDER_TYPES) {
      const own = models.filter(({ provider }) => provider === type);
      const unknown = await service.http('POST', '/v1/agents', {
        key,
        body: { name: 'A', systemPrompt: '', provider: { type, model: 'none-such' } },
      });
      const managed = own.filter(({ ownKeyOnly }) => !ownKeyOnly).map(({ id }) => id);
      expect([unknown.status, unknown.body['message']]).toEqual([
        400,
        `body/provider/model must be one of ${managed.join(', ')} for ${type} agents`,
      ]);
      const agent = await service.http('POST', '/v1/agents', {
        key,
        body: { name: 'A', systemPrompt: '', provider: { type } },
      });
      expect([agent.body['provider']]).toMatchObject([{ model: own.find((model) => model.default)?.id }]);
    }
    expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(PROVIDER_TYPES));
  });
});

describe('the OpenAPI document', () => {
  it('has the models of each provider as an enum in the bodies', async () => {
    const all = await schemas();
    const models = await listed();
    for (const type of PROVIDER_TYPES) {
      const bodies = PROVIDER_BODIES[type];
      const own = models.filter(({ provider }) => provider === type).map(({ id }) => id);
      for (const body of [bodies.create.name, bodies.change.name]) {
        expect([body, all[body]?.properties['model']?.enum ?? []]).toEqual([body, own]);
      }
    }
  });

  it('names the models on which temperature and thinking have an effect', async () => {
    const models = await listed();
    const fields = (await schemas())['AnthropicProviderBody']?.properties;
    for (const { id } of models.filter(({ temperature }) => temperature))
      expect(fields?.['temperature']?.description).toContain(id);
    const always = models.filter(({ provider, thinking }) => provider === 'anthropic' && thinking === 'always');
    for (const { id } of always) expect(fields?.['thinking']?.description).toContain(id);
  });
});
