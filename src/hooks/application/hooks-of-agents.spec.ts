import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../platform/database/index.js';
import { SecretUnreadable } from '../../platform/vault/index.js';
import { headersIn } from '../domain/header-values.js';
import type { HooksDocument } from '../domain/hooks-document.js';
import { type AgentHooksRepository, type HookSettings, NO_HOOKS } from '../persistence/agent-hooks.repository.js';
import type { StoredHeaders } from '../persistence/hooks.schema.js';
import type { HookSecrets, HookSecretStore } from './hook-secrets.js';
import { HooksOfAgents } from './hooks-of-agents.js';

const owner = { organizationId: 'o', agentId: 'a' };

/** A document with one handler, whose header value is the name of the document. */
function settingsOf(name: string): HookSettings {
  const document: HooksDocument = {
    Stop: [{ hooks: [{ type: 'http', url: `https://${name}.example/`, headers: { 'X-Key': name } }] }],
  };
  return { ...NO_HOOKS, document, headers: { id: name, pieces: 1 } };
}

/** @param settings returned by consecutive reads, the last one repeatedly. @param kept the document whose header values are stored */
function hooksOfAgents(settings: readonly (HookSettings | null)[], kept: HookSettings): HooksOfAgents {
  let reads = 0;
  const find = (): Promise<HookSettings | null> =>
    Promise.resolve(settings[Math.min(reads++, settings.length - 1)] ?? null);
  const read = (_owner: unknown, stored: StoredHeaders | null): Promise<HookSecrets> => {
    const isKept = stored?.id === kept.headers?.id;
    return Promise.resolve({ headers: isKept ? headersIn(kept.document) : undefined, signing: null });
  };
  return new HooksOfAgents(
    {} as Database,
    { find } as unknown as AgentHooksRepository,
    { read } as unknown as HookSecretStore,
  );
}

describe('the hooks of an agent', () => {
  const [before, after] = [settingsOf('before'), settingsOf('after')];

  it('have the document and its header values', async () => {
    const hooks = await hooksOfAgents([before], before).load(owner);
    expect([hooks.isConfigured, hooks.credentials?.headers.Stop]).toEqual([true, [{ 'X-Key': 'before' }]]);
  });

  it('are read again after a write between the reads of the document and its header values', async () => {
    const hooks = await hooksOfAgents([before, after], after).load(owner);
    expect(hooks.handlers.Stop.map(({ handler }) => handler)).toEqual(after.document.Stop?.[0]?.hooks);
    expect(hooks.credentials?.headers.Stop).toEqual([{ 'X-Key': 'after' }]);
  });

  it('have no header values when those of the document are deleted, so that http handlers fail', async () => {
    expect((await hooksOfAgents([before], after).load(owner)).credentials).toBeNull();
  });

  it('have no header values when they cannot be decrypted', async () => {
    const read = () => Promise.reject(new SecretUnreadable('spoiled'));
    const repository = { find: () => Promise.resolve(before) } as unknown as AgentHooksRepository;
    const hooks = new HooksOfAgents({} as Database, repository, { read } as unknown as HookSecretStore);
    expect((await hooks.load(owner)).credentials).toBeNull();
  });

  it('do not read the vault when there are no secrets', async () => {
    const repository = { find: () => Promise.resolve(NO_HOOKS) } as unknown as AgentHooksRepository;
    const hooks = new HooksOfAgents({} as Database, repository, {} as HookSecretStore);
    expect((await hooks.load(owner)).credentials).toEqual({ headers: {}, signing: null });
  });
});
