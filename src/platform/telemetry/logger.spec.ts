import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../errors/index.js';
import { NestLogger } from './nest-logger.js';
import { createLogger } from './pino-logger.js';

function recording(logLevel: 'debug' | 'info' = 'debug'): {
  lines: Record<string, unknown>[];
  logger: ReturnType<typeof createLogger>;
} {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(
    { logLevel },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  return { lines, logger };
}

describe('the log', () => {
  it('is JSON lines with level, time, fields and message', () => {
    const { lines, logger } = recording();
    logger.info({ requestId: 'r1', runs: 2 }, 'Runs were ended');
    expect(lines).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), requestId: 'r1', runs: 2, msg: 'Runs were ended' },
    ]);
  });

  it('omits messages below the level', () => {
    const { lines, logger } = recording('info');
    logger.debug({}, 'Noise');
    expect(lines).toEqual([]);
  });

  it('never contains a secret, recognized by its name at any depth or by its form', () => {
    const { lines, logger } = recording();
    const key = `ak_${'x'.repeat(49)}`;
    logger.error(
      {
        token: 'canary-1',
        headers: { Authorization: 'canary-2', 'set-cookie': ['canary-3'] },
        provider: { deep: { apiKey: { nested: 'canary-4' } }, url: 'redis://user:canary-5@host:1' },
        err: new Error(`Incorrect key sk-canary-6-abcdef`, {
          cause: new DomainError('unavailable', 'Down', { detail: `with ${key} and Bearer canary-7-abcdef` }),
        }),
      },
      'A call failed',
    );
    const text = JSON.stringify(lines);
    expect(text).not.toMatch(/canary/);
    expect(text).not.toContain(key);
    expect(text).toContain('Incorrect key [redacted]');
    expect(text).toContain('with [redacted] and [redacted]');
  });

  it('keeps counts with names like secrets', () => {
    const { lines, logger } = recording();
    logger.info({ inputTokens: 7, hasPassword: false }, 'Usage');
    expect(lines[0]).toMatchObject({ inputTokens: 7, hasPassword: false });
  });

  it('survives an object that contains itself', () => {
    const { lines, logger } = recording();
    const loop: { self?: unknown } = {};
    loop.self = loop;
    logger.info({ loop }, 'Loop');
    expect(lines).toHaveLength(1);
  });

  it("contains the debug messages of Nest's logger, redacted", () => {
    const { lines, logger } = recording();
    const nest = new NestLogger(logger);
    nest.debug('It broke with sk-canary-1-abcdef', new Error('Bearer canary-2-abcdef'), 'SomeClass');
    nest.verbose('Details', 'SomeClass');
    nest.error('It failed', 'Error: sk-canary-3-abcdef\n    at x (y.js:1:1)', 'SomeClass');
    nest.error(new Error('with sk-canary-4-abcdef'), 'SomeClass');
    expect(lines).toMatchObject([
      { level: 'debug', msg: 'It broke with [redacted]', context: 'SomeClass', err: { message: '[redacted]' } },
      { level: 'debug', msg: 'Details', context: 'SomeClass' },
      { level: 'error', msg: 'It failed', context: 'SomeClass', stack: 'Error: [redacted]\n    at x (y.js:1:1)' },
      { level: 'error', msg: 'with [redacted]', err: { message: 'with [redacted]' } },
    ]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it("omits Nest's debug messages at the level info", () => {
    const { lines, logger } = recording('info');
    new NestLogger(logger).debug('Noise');
    expect(lines).toEqual([]);
  });

  it("contains Nest's warnings and errors, and no messages about its start", () => {
    const { lines, logger } = recording();
    const nest = new NestLogger(logger);
    nest.log();
    nest.warn('Careful', 'SomeModule');
    nest.error(new Error('Broken'), 'SomeModule');
    expect(lines).toMatchObject([
      { level: 'warn', msg: 'Careful', context: 'SomeModule' },
      { level: 'error', msg: 'Broken', err: { message: 'Broken' } },
    ]);
  });
});
