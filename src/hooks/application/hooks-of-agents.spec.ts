import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../platform/database/index.js';
import { headersIn, urlsIn } from '../domain/header-values.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import { type AgentHooksRepository, type HookSettings, NO_HOOKS } from '../persistence/agent-hooks.repository.js';
import type { HookSecrets, HookSecretStore } from './hook-secrets.js';
import { HooksOfAgents } from './hooks-of-agents.js';

const owner = { organizationId: 'o', agentId: 'a' };

function documentOf(url: string, key?: string): HooksDocument {
  return { Stop: [{ hooks: [{ type: 'http', url, ...(key === undefined ? {} : { headers: { 'X-Key': key } }) }] }] };
}

const settingsOf = (document: HooksDocument): HookSettings => ({ ...NO_HOOKS, document });
const secretsOf = (document: HooksDocument): HookSecrets => ({ headers: headersIn(document), urls: urlsIn(document), signing: null });

/** What is read, one after the other; the last stays. */
function hooksOfAgents(settings: readonly HookSettings[], secrets: readonly HookSecrets[]): HooksOfAgents {
  const inTurn = <Value>(values: readonly Value[]) => {
    let next = 0;
    return (): Promise<Value> => Promise.resolve(values[Math.min(next++, values.length - 1)] as Value);
  };
  const repository = { find: inTurn(settings) } as unknown as AgentHooksRepository;
  const store = { read: inTurn(secrets) } as unknown as HookSecretStore;
  return new HooksOfAgents({} as Database, repository, store);
}

describe('the hooks of an agent', () => {
  const before = documentOf('https://before.example/', 'before');
  const after = documentOf('https://after.example/', 'after');

  it('have the document and its values', async () => {
    const hooks = await hooksOfAgents([settingsOf(before)], [secretsOf(before)]).load(owner);
    expect(hooks.credentials?.headers.Stop).toEqual([{ 'X-Key': 'before' }]);
  });

  it.each([
    ['other handlers', after],
    ['another event', { PreToolUse: before.Stop }],
    ['none', {}],
  ])('are read again where a write between the two reads has stored values of %s', async (_what, written) => {
    const hooks = await hooksOfAgents([settingsOf(before), settingsOf(after)], [secretsOf(written), secretsOf(after)]).load(owner);
    expect(hooks.handlers.Stop.map(({ handler }) => handler)).toEqual(after.Stop?.[0]?.hooks);
    expect(hooks.credentials?.headers.Stop).toEqual([{ 'X-Key': 'after' }]);
  });

  it('never have values of other handlers, whatever is stored: the http handlers then fail', async () => {
    const hooks = await hooksOfAgents([settingsOf(before)], [secretsOf(after)]).load(owner);
    expect(hooks.credentials).toBeNull();
  });

  it('need no values where no handler has headers', async () => {
    const signed = { ...settingsOf(documentOf('https://before.example/')), secretCreatedAt: new Date() };
    const hooks = await hooksOfAgents([signed], [secretsOf(after)]).load(owner);
    expect(hooks.credentials).toEqual({ headers: {}, signing: null });
  });
});
