import { describe, expect, it } from '@jest/globals';
import { effectiveFeatures, parseFeatureChoices } from './feature.js';

const on = (...arguments_: Parameters<typeof effectiveFeatures>): string[] =>
  [...effectiveFeatures(...arguments_)].sort();

describe('the features of an organization', () => {
  it('are by default the session-start hook, and the gateway with plan enterprise', () => {
    expect(on('free', [])).toEqual(['session_start_hook']);
    expect(on('enterprise', [])).toEqual(['ai_gateway', 'session_start_hook']);
  });

  it('are the defaults and those in the list', () => {
    expect(on('free', ['hipaa', 'ai_gateway'])).toEqual(['ai_gateway', 'hipaa', 'session_start_hook']);
  });

  it('are off with a leading -, whatever the default or the rest of the list', () => {
    expect(on('enterprise', ['-ai_gateway', '-session_start_hook', 'hipaa', '-hipaa'])).toEqual([]);
  });

  it('are refused when unknown, by name', () => {
    expect(() => parseFeatureChoices(['hipaa', 'telepathy'])).toThrow(/telepathy.*knowledge_search/);
    expect(() => parseFeatureChoices(['--hipaa'])).toThrow(/--hipaa/);
    expect(parseFeatureChoices(['-hipaa', '-hipaa'])).toEqual(['-hipaa']);
  });
});
