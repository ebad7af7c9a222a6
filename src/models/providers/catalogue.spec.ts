import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { creditsFor } from '../domain/catalogue-model.js';
import { MODEL_PROVIDERS, PROVIDER_TYPES } from './index.js';
import { defaultModel, findModel, providerOf } from './lookup.js';

const SDK_TYPES: Readonly<Record<string, string>> = {
  anthropic: '@anthropic-ai/sdk/resources/messages/messages.d.ts',
  'openai-responses': 'openai/resources/shared.d.ts',
  gemini: '@google/genai/dist/genai.d.ts',
};

const API_TYPES = MODEL_PROVIDERS.map(({ type }) => type);

describe.each(PROVIDER_TYPES)('the catalogue of %s', (provider) => {
  it('has exactly one default, which the managed key can run', () => {
    const defaults = providerOf(provider).models.filter((model) => model.isDefault);
    expect(defaults).toEqual([defaultModel(provider)]);
    expect(defaultModel(provider).ownKeyOnly).toBe(false);
  });

  it('has each id once', () => {
    const ids = providerOf(provider).models.map((model) => model.id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(findModel(provider, id)?.id).toBe(id);
  });
});

describe.each(API_TYPES)('the catalogue of %s', (provider) => {
  it('lists only models that the installed SDK publishes', () => {
    const types = readFileSync(join(process.cwd(), 'node_modules', SDK_TYPES[provider] ?? 'unknown'), 'utf8');
    const unknown = providerOf(provider).models.filter(
      ({ id }) => !types.includes(`'${id}'`) && !types.includes(`"${id}"`),
    );
    expect(unknown.map((model) => model.id)).toEqual([]);
  });

  it('has models that no other API has', () => {
    const others = API_TYPES.filter((other) => other !== provider);
    for (const { id } of providerOf(provider).models)
      for (const other of others) expect(findModel(other, id)).toBeUndefined();
  });
});

describe('credits', () => {
  it('the top tier costs five times the middle one', () => {
    const top = findModel('anthropic', 'claude-fable-5-2');
    const mid = findModel('anthropic', 'claude-sonnet-5-5');
    expect((top?.credits.outputPerMillion ?? 0) / (mid?.credits.outputPerMillion ?? 1)).toBe(5);
    expect((top?.credits.inputPerMillion ?? 0) / (mid?.credits.inputPerMillion ?? 1)).toBe(5);
  });

  it('are the tokens at the model’s rates; tokens that were not reported cost nothing', () => {
    const model = defaultModel('anthropic');
    expect(creditsFor(model, { inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBe(1200);
    expect(creditsFor(model, { inputTokens: 1234, outputTokens: 56 })).toBe(0.3028);
    expect(creditsFor(model, { inputTokens: null, outputTokens: 56 })).toBe(0.056);
    expect(creditsFor(model, { inputTokens: null, outputTokens: null })).toBe(0);
  });

  it('charge cached input and thinking at their rates, within their totals', () => {
    const model = defaultModel('anthropic');
    const usage = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
    expect(creditsFor(model, { ...usage, cachedInputTokens: 1_000_000 })).toBe(1020);
    expect(creditsFor(model, { ...usage, cachedInputTokens: 400_000 })).toBe(1128);
    expect(creditsFor(model, { ...usage, cachedInputTokens: 2_000_000, thinkingTokens: null })).toBe(1020);
    expect(creditsFor(model, { ...usage, inputTokens: null, cachedInputTokens: 5 })).toBe(1000);
    const dear = { ...model, credits: { ...model.credits, thinkingPerMillion: 3000 } };
    expect(creditsFor(dear, { ...usage, thinkingTokens: 500_000 })).toBe(2200);
  });

  it('some openai-responses models need an own key', () => {
    expect(providerOf('openai-responses').models.filter((model) => model.ownKeyOnly).length).toBeGreaterThan(0);
  });
});
