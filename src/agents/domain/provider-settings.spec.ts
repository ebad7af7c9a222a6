import { describe, expect, it } from '@jest/globals';
import { changedProvider, type ModelChoices, newProvider, type ProviderSettings } from './provider-settings.js';

const choices: ModelChoices = {
  of: (type) => [
    { id: `${type}-main`, ownKeyOnly: false },
    { id: `${type}-small`, ownKeyOnly: false },
    { id: `${type}-pro`, ownKeyOnly: true },
  ],
  defaultOf: (type) => `${type}-main`,
};

describe('a new provider', () => {
  it.each([
    [{ type: 'anthropic' }, { type: 'anthropic', thinking: null, temperature: null, webSearch: false }],
    [{ type: 'openai-responses' }, { type: 'openai-responses', reasoningEffort: null, verbosity: null }],
    [{ type: 'gemini' }, { type: 'gemini' }],
  ] as const)('has the default model, the managed key and the initial options (%j)', (request, options) => {
    expect(newProvider(request, choices)).toEqual({ model: `${request.type}-main`, useOwnApiKey: false, options });
  });

  it('thinks with medium effort when the request names none', () => {
    const { options } = newProvider({ type: 'anthropic', thinking: { type: 'enabled' } }, choices);
    expect(options).toMatchObject({ thinking: { type: 'enabled', effort: 'medium' } });
  });

  it('is refused with an unknown model, and the message lists the available ones', () => {
    expect(() => newProvider({ type: 'gemini', model: 'gpt' }, choices)).toThrow(
      'body/provider/model must be one of gemini-main, gemini-small for gemini agents',
    );
    expect(() => newProvider({ type: 'gemini', model: 'gpt', useOwnApiKey: true, apiKey: 'k' }, choices)).toThrow(
      'gemini-main, gemini-small, gemini-pro',
    );
  });

  it('accepts a model that needs an own key only with one', () => {
    const pro = { type: 'openai-responses', model: 'openai-responses-pro' } as const;
    expect(() => newProvider(pro, choices)).toThrow('only with an own key');
    expect(newProvider({ ...pro, useOwnApiKey: true, apiKey: 'k' }, choices)).toMatchObject({ useOwnApiKey: true });
  });

  it('needs a key exactly when it uses its own, and does not store it', () => {
    expect(() => newProvider({ type: 'gemini', useOwnApiKey: true }, choices)).toThrow('apiKey is required');
    for (const useOwnApiKey of [false, undefined]) {
      expect(() => newProvider({ type: 'gemini', useOwnApiKey, apiKey: 'canary' }, choices)).toThrow('accepted only');
    }
    const provider = newProvider({ type: 'gemini', useOwnApiKey: true, apiKey: 'canary' }, choices);
    expect(JSON.stringify(provider)).not.toContain('canary');
  });
});

describe('a changed provider', () => {
  const thinking = { type: 'enabled', effort: 'max' } as const;
  const anthropic = newProvider({ type: 'anthropic', temperature: 0.5, thinking }, choices);
  const openai = newProvider(
    { type: 'openai-responses', reasoning: { effort: 'low' }, text: { verbosity: 'high' } },
    choices,
  );

  it('keeps settings that were not sent', () => {
    expect(changedProvider(anthropic, { type: 'anthropic', webSearch: true }, choices).options).toEqual({
      type: 'anthropic',
      temperature: 0.5,
      thinking: { type: 'enabled', effort: 'max' },
      webSearch: true,
    });
    expect(changedProvider(openai, { type: 'openai-responses', reasoning: {}, text: {} }, choices)).toEqual(openai);
  });

  it('clears settings that were sent as null', () => {
    expect(changedProvider(anthropic, { type: 'anthropic', temperature: null }, choices).options).toMatchObject({
      temperature: null,
    });
    const cleared = changedProvider(openai, { type: 'openai-responses', reasoning: { effort: null } }, choices);
    expect(cleared.options).toEqual({
      type: 'openai-responses',
      reasoningEffort: null,
      verbosity: 'high',
    });
  });

  it.each(['gemini', 'claude-agent-sdk', 'openai-responses'] as const)('never becomes another type (%s)', (type) => {
    expect(() => changedProvider(anthropic, { type }, choices)).toThrow(
      expect.objectContaining({ error: 'provider_type_mismatch', bare: true }),
    );
  });

  it('cannot switch to a model that needs an own key on the managed key, but may send the stored one again', () => {
    const model = 'openai-responses-pro';
    expect(() => changedProvider(openai, { type: 'openai-responses', model }, choices)).toThrow('only with an own key');
    const stored: ProviderSettings = { ...openai, model };
    expect(changedProvider(stored, { type: 'openai-responses', model }, choices)).toEqual(stored);
    const withdrawn: ProviderSettings = { ...openai, model: 'no longer in the catalogue' };
    const repeated = { type: 'openai-responses', model: withdrawn.model } as const;
    expect(changedProvider(withdrawn, repeated, choices)).toEqual(withdrawn);
  });
});
