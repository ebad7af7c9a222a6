import { expect, it, jest } from '@jest/globals';
import type { OrganizationDirectory } from '../../access/index.js';
import type { RunContext } from '../../conversations/index.js';
import { createLogger } from '../../platform/telemetry/index.js';
import { ComponentsOfRuns } from './components-of-runs.js';

type Find = OrganizationDirectory['find'];

function componentsOfRuns(find: Find): ComponentsOfRuns {
  return new ComponentsOfRuns({ find } as OrganizationDirectory, createLogger({ logLevel: 'silent' }));
}

function run(frequency: 'off' | 'low'): RunContext {
  const components = { choiceButtons: true, card: false, list: false, table: false, chart: false };
  const agent = { type: 'anthropic', disableInteractivePrompts: false, responseComponents: { frequency, components } };
  return {
    organizationId: 'o',
    runId: 'r',
    agent,
    nonInteractive: false,
    options: {},
    widget: { version: '1.0.0' },
  } as unknown as RunContext;
}

it('reads the organization once a run, and not at all if there is nothing to show', async () => {
  const find = jest
    .fn<Find>()
    .mockResolvedValue({ features: new Set(['response_components']) } as unknown as Awaited<ReturnType<Find>>);
  const components = componentsOfRuns(find);
  expect(await components.of(run('off'))).toEqual([]);
  expect(find).not.toHaveBeenCalled();
  const low = run('low');
  expect(await Promise.all([components.of(low), components.of(low)])).toEqual([
    ['confirm', 'select'],
    ['confirm', 'select'],
  ]);
  expect(find).toHaveBeenCalledTimes(1);
});

it('offers no components if the organization cannot be read', async () => {
  expect(await componentsOfRuns(() => Promise.reject(new Error('no database'))).of(run('low'))).toEqual([]);
  expect(await componentsOfRuns(() => Promise.resolve(null)).of(run('low'))).toEqual([]);
});
