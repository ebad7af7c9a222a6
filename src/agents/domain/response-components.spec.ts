import { describe, expect, it } from '@jest/globals';
import { AGENT_TYPES } from './agent-type.js';
import { namedBy } from '../../platform/stored-json/index.js';
import { responseComponents, updateComponents } from './response-components.js';

const DEFAULTS = { choiceButtons: true, card: true, list: false, table: false, chart: false };

describe('stored response components', () => {
  it.each([{}, { frequency: 'sometimes' }, { frequency: null, components: { card: 'yes' } }])(
    'are complete and have their defaults when the stored value is unset or unknown (%j)',
    (stored) => {
      expect(responseComponents.parse(stored)).toEqual({ frequency: 'off', components: DEFAULTS });
    },
  );

  it('keep a switch that this release does not know, and do not show it', () => {
    const stored = { frequency: 'low', components: { list: true, hologram: true } };
    const read = responseComponents.parse(stored);
    expect(read.components).toEqual({ ...DEFAULTS, list: true, hologram: true });
    expect(namedBy(responseComponents, read)).toEqual({ frequency: 'low', components: { ...DEFAULTS, list: true } });
  });
});

describe('a change of response components', () => {
  const dial = responseComponents.parse({});

  it.each(['anthropic', 'openai-responses'] as const)('lets %s agents emit every component', (type) => {
    const components = { list: true, table: true, chart: true };
    expect(updateComponents(type, dial, { frequency: 'high', components })).toEqual({
      frequency: 'high',
      components: { choiceButtons: true, card: true, ...components },
    });
  });

  it('changes only switches that were sent and keeps a frequency that was not', () => {
    const before = updateComponents('anthropic', dial, { frequency: 'medium', components: { list: true } });
    expect(updateComponents('anthropic', before, { components: { card: false } })).toEqual({
      frequency: 'medium',
      components: { ...DEFAULTS, list: true, card: false },
    });
  });

  it.each(['gemini', 'classic'] as const)('refuses every frequency except off for %s agents', (type) => {
    for (const frequency of ['low', 'medium', 'high'] as const) {
      expect(() => updateComponents(type, dial, { frequency })).toThrow(
        expect.objectContaining({ kind: 'unprocessable', code: 'unsupported_for_agent_type' }),
      );
    }
  });

  it('names every switch that the type cannot emit, and only those', () => {
    const components = { choiceButtons: true, card: true, list: true, chart: true };
    expect(() => updateComponents('claude-agent-sdk', dial, { frequency: 'low', components })).toThrow(
      /emit list, chart;/,
    );
    expect(updateComponents('claude-agent-sdk', dial, { frequency: 'low' }).frequency).toBe('low');
  });

  it('refuses a switch that was turned off and cannot be emitted', () => {
    const off = updateComponents('gemini', dial, { components: { card: false } });
    expect(() => updateComponents('gemini', off, { components: { card: true } })).toThrow(/emit card;/);
  });

  it.each(AGENT_TYPES)('always lets %s agents switch off, and send again a switch that is on', (type) => {
    const off = { choiceButtons: false, card: false, list: false, table: false, chart: false };
    expect(updateComponents(type, dial, { frequency: 'off', components: off }).components).toEqual(off);
    expect(updateComponents(type, dial, { components: { choiceButtons: true, card: true } })).toEqual(dial);
  });
});
