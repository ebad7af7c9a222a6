import { describe, expect, it } from '@jest/globals';
import { FEATURES } from '../../access/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { type DtoClass, validated } from '../../platform/http/index.js';
import { type AgentProvider, MODEL_PROVIDERS, PROVIDERS } from './index.js';
import { PROVIDER_BODIES } from './service-parts.js';
import { providerOf } from './lookup.js';

/** The validation error of a body, or undefined. */
function complaintOf(type: DtoClass, sent: object): string | undefined {
  try {
    validated(type, sent, 'body');
    return undefined;
  } catch (error) {
    if (error instanceof ValidationFailed) return error.message;
    throw error;
  }
}

/** Only settings that are set: null means the default of the provider. */
function settingsSet(described: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(described).filter(([, value]) => value !== null));
}

function duplicatesOf(values: readonly (string | undefined)[]): unknown[] {
  return values.filter((value, index) => value !== undefined && values.indexOf(value) !== index);
}

describe('the list of providers', () => {
  it('has unique types, environment names and gateway paths', () => {
    expect(duplicatesOf(PROVIDERS.map(({ type }) => type))).toEqual([]);
    expect(duplicatesOf(MODEL_PROVIDERS.map(({ environment }) => environment))).toEqual([]);
    for (const { environment } of MODEL_PROVIDERS) expect(environment).toMatch(/^[A-Z][A-Z0-9_]*$/);
    expect(duplicatesOf(MODEL_PROVIDERS.map(({ gatewayPath }) => gatewayPath))).toEqual([]);
  });

  it('starts with one that every organization has, for examples', () => {
    expect(PROVIDERS[0]).not.toHaveProperty('feature');
  });
});

describe.each(PROVIDERS)('$type', (provider) => {
  const { type, feature } = provider;
  const bodies = PROVIDER_BODIES[type];

  it.each(['create', 'change'] as const)('has a body to %s that accepts only its type', (body) => {
    expect(complaintOf(bodies[body], { type })).toBeUndefined();
    expect(complaintOf(bodies[body], { type: 'another' })).toBe(`body/type must be '${type}'`);
    expect(complaintOf(bodies[body], {})).toBe('body/type is required');
  });

  it('accepts a request without a key, and needs only existing features', () => {
    expect(() => provider.ownKey.create({ type })).not.toThrow();
    expect(() => provider.ownKey.change({ type })).not.toThrow();
    if (feature !== undefined) expect(FEATURES).toContain(feature);
    expect(providerOf(type)).toBe(provider);
  });
});

describe.each(PROVIDERS as readonly AgentProvider[])('$type', (provider) => {
  const { type, settings } = provider;
  const bodies = PROVIDER_BODIES[type];

  it.each(['initial', 'quick'] as const)('has %s settings that a change of the agent could contain', (which) => {
    const options = settings[which];
    expect(options.type).toBe(type);
    expect(complaintOf(bodies.change, { type, ...settingsSet(settings.describe(options)) })).toBeUndefined();
  });

  it('keeps the settings that a request leaves out', () => {
    for (const options of [settings.initial, settings.quick])
      expect(settings.merge(options, { type })).toEqual(options);
  });

  it('leaves part of the context of every model for the history', () => {
    for (const { historyCharacters, contextTokens } of provider.models) {
      expect(historyCharacters).toBeGreaterThan(0);
      expect(historyCharacters / 4).toBeLessThanOrEqual(contextTokens * 0.76);
    }
  });
});
