import { describe, expect, it } from '@jest/globals';
import type { ComponentMap } from '../../agents/index.js';
import { offeredComponents, type OfferConditions } from './component-names.js';

const ALL_ON: ComponentMap = { choiceButtons: true, card: true, list: true, table: true, chart: true };

function offered(
  {
    components,
    frequency = 'medium',
    ...agent
  }: Partial<OfferConditions['agent']> & {
    components?: Partial<ComponentMap>;
    frequency?: 'off' | 'low' | 'medium' | 'high';
  } = {},
  run: Partial<Omit<OfferConditions, 'agent'>> = {},
): readonly string[] {
  const responseComponents = { frequency, components: { ...ALL_ON, ...components } };
  return offeredComponents({
    agent: { type: 'anthropic', disableInteractivePrompts: false, responseComponents, ...agent },
    ...{ inWidget: true, nonInteractive: false, ...run },
  });
}

describe('a run', () => {
  it.each(['low', 'medium', 'high'] as const)(
    'may show all components that are switched on at the frequency %s',
    (frequency) => {
      expect(offered({ frequency })).toEqual(['confirm', 'select', 'card', 'list']);
    },
  );

  it('may show nothing if one condition fails', () => {
    expect(offered({ frequency: 'off' })).toEqual([]);
    expect(offered({ disableInteractivePrompts: true })).toEqual([]);
    expect(offered({}, { inWidget: false })).toEqual([]);
    expect(offered({}, { nonInteractive: true })).toEqual([]);
  });

  it('may show the components of the switches; table and chart have none', () => {
    expect(offered({ components: { choiceButtons: false } })).toEqual(['card', 'list']);
    expect(offered({ components: { card: false } })).toEqual(['confirm', 'select', 'list']);
    expect(offered({ components: { list: false } })).toEqual(['confirm', 'select', 'card']);
    expect(offered({ components: { choiceButtons: false, card: false, list: false } })).toEqual([]);
  });

  it('may show only components that the type of its agent can emit, whatever is stored', () => {
    expect(offered({ type: 'openai-responses' })).toEqual(['confirm', 'select', 'card', 'list']);
    expect(offered({ type: 'claude-agent-sdk' })).toEqual(['confirm', 'select']);
    expect(offered({ type: 'gemini' })).toEqual([]);
    expect(offered({ type: 'classic' })).toEqual([]);
  });
});
