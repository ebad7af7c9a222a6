import { describe, expect, it } from '@jest/globals';
import { Agent, type NewAgent } from './agent.js';
import type { ModelChoices } from './provider-settings.js';

const choices: ModelChoices = { of: () => [{ id: 'main', ownKeyOnly: false }], defaultOf: () => 'main' };
const NOW = new Date('2026-11-21T10:00:00.000Z');
const LATER = new Date('2026-11-21T11:00:00.000Z');

function agent(request: Partial<NewAgent> = {}): Agent {
  const whole: NewAgent = { name: 'Ada', provider: { type: 'anthropic' }, ...request };
  return Agent.create({ id: 'a', organizationId: 'o' }, whole, choices, NOW);
}

describe('a new agent', () => {
  it('has every default', () => {
    expect(agent()).toMatchObject({
      type: 'anthropic',
      systemPrompt: '',
      version: 1,
      createdAt: NOW,
      updatedAt: NOW,
      settings: {
        tools: { requireApprovalForResourceChanges: false, requireApprovalBeforeToolCalls: false },
        longTermMemory: true,
        toolProgress: true,
        responseComponents: { frequency: 'off' },
        knowledgeSearch: { maxResults: 5, scoreThreshold: 0.444, semanticWeight: 0.4 },
        aiGateway: null,
        timeoutMinutes: 6,
        runLimits: { maxSteps: null, maxCredits: null },
        disableInteractivePrompts: false,
      },
    });
  });

  it('keeps the defaults of the knowledge settings that were not sent', () => {
    const { knowledgeSearch } = agent({ knowledgeSearch: { maxResults: 50, semanticWeight: undefined } }).settings;
    expect(knowledgeSearch).toEqual({ maxResults: 50, scoreThreshold: 0.444, semanticWeight: 0.4 });
  });

  it('searches the web only on anthropic', () => {
    const tools = { integrations: ['webSearch'] } as const;
    expect(agent({ tools }).settings.provider.options).toMatchObject({ webSearch: true });
    expect(() => agent({ tools, provider: { type: 'gemini' } })).toThrow('webSearch is for anthropic agents only');
    expect(agent({ tools: { integrations: [] }, provider: { type: 'gemini' } }).type).toBe('gemini');
  });

  it('has a gateway only on the providers that can be routed, and does not hold its token', () => {
    const aiGateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary' } as const;
    const routed = agent({ aiGateway });
    expect(routed.settings.aiGateway).toEqual({ enabled: true, edgeAccountId: 'acc', gatewayName: 'main' });
    expect(JSON.stringify(routed)).not.toContain('canary');
    for (const gateway of [aiGateway, { enabled: false }] as const) {
      expect(() => agent({ aiGateway: gateway, provider: { type: 'gemini' } })).toThrow(
        expect.objectContaining({ error: 'ai_gateway_unsupported_provider' }),
      );
    }
  });
});

describe('a change', () => {
  it('changes only fields of the request and returns what differs', () => {
    const changed = agent();
    const before = changed.settings;
    const changes = changed.change({ name: 'Grace', timeoutMinutes: 20 }, choices);
    expect(changes).toEqual([
      { field: 'name', before: 'Ada', after: 'Grace' },
      { field: 'timeoutMinutes', before: 6, after: 20 },
    ]);
    expect(changed).toMatchObject({ name: 'Grace', version: 1, updatedAt: NOW });
    expect(changed.settings).toEqual({ ...before, timeoutMinutes: 20 });
  });

  it('without effect returns no differences', () => {
    const same = agent();
    const provider = { type: 'anthropic', model: 'main' } as const;
    const sent = { name: 'Ada', toolProgress: { enabled: true }, provider };
    expect(same.change(sent, choices)).toEqual([]);
  });

  it('raises the version when `enterNextVersion` is called', () => {
    const changed = agent();
    changed.enterNextVersion(LATER);
    expect(changed).toMatchObject({ version: 2, updatedAt: LATER });
  });

  it('changes nothing when one part is refused', () => {
    const gemini = agent({ provider: { type: 'gemini' } });
    const before = JSON.stringify(gemini);
    expect(() => gemini.change({ name: 'New', responseComponents: { frequency: 'low' } }, choices)).toThrow();
    expect(() => gemini.change({ name: 'New', systemPrompt: 'x'.repeat(200_001) }, choices)).toThrow();
    expect(JSON.stringify(gemini)).toBe(before);
  });

  it('clears the prompt with an empty string, and removes the gateway with null', () => {
    const set = agent({ systemPrompt: 'Be kind.', aiGateway: { enabled: false } });
    set.change({ systemPrompt: '', aiGateway: null }, choices);
    expect(set.systemPrompt).toBe('');
    expect(set.settings.aiGateway).toBeNull();
  });

  it('allows prompts of 200000 characters of any width, and no longer ones', () => {
    const emoji = '🙂'.repeat(200_000);
    const long = agent();
    long.change({ systemPrompt: emoji }, choices);
    expect(() => long.change({ systemPrompt: `${emoji}.` }, choices)).toThrow(
      expect.objectContaining({ error: 'system_prompt_too_long', bare: true }),
    );
  });

  it('replaces a prompt beyond the limit by any that is not longer than it', () => {
    const long = agent();
    long.systemPrompt = 'x'.repeat(250_000);
    long.change({ systemPrompt: 'y'.repeat(250_000) }, choices);
    long.change({ systemPrompt: 'z'.repeat(240_000) }, choices);
    expect(() => long.change({ systemPrompt: 'y'.repeat(250_000) }, choices)).toThrow('at most 240000');
  });
});

describe('restoring a version', () => {
  it('restores name, prompt and settings, and returns what differs', () => {
    const changed = agent({ systemPrompt: 'Be kind.' });
    const { agent: kept } = changed.snapshots();
    changed.change({ name: 'Grace', systemPrompt: '', timeoutMinutes: 20 }, choices);
    const fields = changed.restore(kept, choices).map(({ field }) => field);
    expect(fields).toEqual(['name', 'systemPrompt', 'timeoutMinutes']);
    expect(changed.snapshots().agent).toEqual(kept);
    expect(changed.restore(kept, choices)).toEqual([]);
  });

  it('keeps useOwnApiKey and the settings of the operator', () => {
    const changed = agent();
    const { agent: kept } = changed.snapshots();
    changed.operate({ disableInteractivePrompts: true });
    changed.settings = { ...changed.settings, provider: { ...changed.settings.provider, useOwnApiKey: true } };
    expect(changed.restore(kept, choices)).toEqual([]);
    expect(changed.settings).toMatchObject({ disableInteractivePrompts: true, provider: { useOwnApiKey: true } });
  });

  it('is refused when its model is no longer available, unless the agent uses it', () => {
    const changed = agent();
    const { agent: kept } = changed.snapshots();
    const restored = {
      ...kept,
      settings: { ...kept.settings, provider: { ...kept.settings.provider, model: 'retired' } },
    };
    const refused = expect.objectContaining({ kind: 'unprocessable', code: 'version_not_restorable' });
    expect(() => changed.restore(restored, choices)).toThrow(refused);
    changed.settings = restored.settings;
    expect(changed.restore(restored, choices)).toEqual([]);
  });
});

describe('a change by the operator', () => {
  it('makes an agent classic and keeps its provider', () => {
    const classic = agent();
    expect(classic.operate({ type: 'classic' }).map(({ field }) => field)).toEqual(['provider']);
    expect(classic).toMatchObject({ type: 'classic', managedByApi: false });
    expect(classic.settings.provider.options.type).toBe('anthropic');
    expect(classic.operate({ type: 'classic' })).toEqual([]);
  });
});
