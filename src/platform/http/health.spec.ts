import { describe, expect, it } from '@jest/globals';
import type { DiscoveryService } from '@nestjs/core';
import { SystemClock } from '../clock/index.js';
import { ShutdownState } from '../lifecycle/index.js';
import { createLogger } from '../telemetry/index.js';
import { Health, HealthCheck, NotReady } from './health.js';

class Check extends HealthCheck {
  constructor(
    readonly name: string,
    readonly check: () => Promise<void>,
  ) {
    super();
  }
}

/** Deadlines are over at once. */
class ImpatientClock extends SystemClock {
  override after(_ms: number, task: () => void): () => void {
    setImmediate(task);
    return () => undefined;
  }
}

function health(...checks: HealthCheck[]): { health: Health; lines: string[] } {
  const lines: string[] = [];
  const discovery = { getProviders: () => [{ instance: undefined }, ...checks.map((instance) => ({ instance }))] };
  const logger = createLogger({ logLevel: 'info' }, { write: (line) => void lines.push(line) });
  const asked = new Health(discovery as unknown as DiscoveryService, new ShutdownState(), new ImpatientClock(), logger);
  asked.onApplicationBootstrap();
  return { health: asked, lines };
}

const well = () => Promise.resolve();

describe('readiness', () => {
  it('is ok when every part is', async () => {
    expect(await health(new Check('a', well), new Check('b', well)).health.readiness()).toEqual({
      status: 'ok',
      checks: { a: 'ok', b: 'ok' },
      facts: {},
    });
  });

  it('names the part that fails, and hides why unless the reason is public', async () => {
    const subject = health(
      new Check('a', well),
      new Check('b', () => Promise.reject(new NotReady('lacks the migration 7'))),
      new Check('c', () => Promise.reject(new Error('canary at 10.0.0.7'))),
    );
    expect(await subject.health.readiness()).toEqual({
      status: 'unavailable',
      checks: { a: 'ok', b: 'lacks the migration 7', c: 'does not work; the reason is in the log' },
      facts: {},
    });
    expect(subject.lines.join()).toContain('canary at 10.0.0.7');
  });

  it.each([
    ['of each other', ['a', 'b', 'a'], 'a'],
    ['that the process itself has', ['a', 'process'], 'process'],
  ])('has no start with parts of a name %s: one would hide the other', (_which, names, repeated) => {
    expect(() => health(...names.map((name) => new Check(name, well)))).toThrow(`'${repeated}'`);
  });

  it('does not wait for a part that never answers', async () => {
    const silent = new Check('a', () => new Promise(() => undefined));
    expect(await health(silent).health.readiness()).toEqual({
      status: 'unavailable',
      checks: { a: 'does not answer' },
      facts: {},
    });
  });
});
