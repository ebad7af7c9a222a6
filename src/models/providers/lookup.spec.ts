import { describe, expect, it } from '@jest/globals';
import { MODEL_PROVIDERS, type ModelRequest, PROVIDERS } from './index.js';
import { apiOf, keyOwner, requestTo, takesMediaType } from './lookup.js';

const [FIRST] = MODEL_PROVIDERS;
/** The providers whose agents use the models of others. */
const BORROWING = PROVIDERS.filter((provider) => !('runtime' in provider));

function requestOf(options: ModelRequest['options']): ModelRequest {
  return { model: 'some-model', options, system: '', messages: [], tools: [] };
}

describe.each(MODEL_PROVIDERS)('models of $type', (api) => {
  it('are called through its API, even if they are no longer in the catalogue', () => {
    for (const model of [...api.models.map(({ id }) => id), 'withdrawn']) expect(apiOf(api.type, model)).toBe(api);
    const request = requestOf(api.settings.quick);
    expect(requestTo(api, request)).toBe(request);
  });

  it.each(BORROWING)('are called through it for agents of $type, with its default settings', (provider) => {
    for (const { id } of api.models) {
      expect(apiOf(provider.type, id)).toBe(api);
      expect(takesMediaType(provider.type, id, 'image/gif')).toBe(takesMediaType(api.type, id, 'image/gif'));
    }
    expect(requestTo(api, requestOf(provider.settings.initial)).options).toEqual(api.settings.initial);
    expect(requestTo(api, requestOf(provider.settings.quick)).options).toEqual(api.settings.quick);
  });
});

it.each(BORROWING)(
  'a model of $type that no catalogue has any more is called through the API of the default one',
  ({ type }) => {
    expect(apiOf(type, 'withdrawn')).toBe(FIRST);
  },
);

describe('a key', () => {
  it.each([
    ['sk-ant-api03-x', 'anthropic'],
    ['sk-x', 'openai-responses'],
    ['sk-proj-x', 'openai-responses'],
    ['AIzaX', 'gemini'],
    ['AQ.x', 'gemini'],
    ['skx', undefined],
    ['AIz', undefined],
    ['', undefined],
  ])('that is %j belongs to %s', (apiKey, owner) => {
    expect(keyOwner(apiKey)).toBe(owner);
  });
});
