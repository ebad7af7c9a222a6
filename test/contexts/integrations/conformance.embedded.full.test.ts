import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Exchange } from '../../support/fake-upstream.js';
import { useService } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { calls, type ModelScript, says } from '../../support/scripted-models.js';

const SUITE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = join(import.meta.dirname, '../../support/mcp-conformance-client.mjs');
const EXPECTED_FAILURES = join(import.meta.dirname, '../../support/mcp-conformance-expected-failures.yml');
/** The first list waits most of the time and takes as long as the second, so its timing must not suffer from a large load. */
const SUITES = [['core'], ['auth', 'backcompat', 'draft', 'extensions']];
const SCENARIO_MS = 60_000;

// The servers of the suite listen on random ports.
const service = useService({ egressAllow: new LoopbackPorts() });

/** Calls the tool that the last message names, and accepts any result. */
const doesAsTold: ModelScript = (exchange, wire) => {
  const [, name, input] = /^call (\S+) (.*)$/.exec(lastText(exchange)) ?? [];
  const script = name === undefined || input === undefined ? says('Done.') : calls(name, JSON.parse(input) as object);
  return script(exchange, wire);
};

/** The text of the last message in Anthropic's format. */
function lastText({ request }: Exchange): string {
  const messages = request.body['messages'] as readonly {
    readonly content: string | readonly { readonly text?: string }[];
  }[];
  const content = messages.at(-1)?.content ?? '';
  return typeof content === 'string' ? content : (content[0]?.text ?? '');
}

interface Verdict {
  readonly suite: string;
  readonly code: number;
  /** The output of a failed suite. */
  readonly output: string;
}

/** Measures times to tenths of a second, which depend on the load of the machine. */
const TIMED = 'sse-retry';
const TIMED_TRIES = 3;

async function judge(suite: string, key: string): Promise<Verdict> {
  const verdict = await run(suite, ['--suite', suite, '--expected-failures', EXPECTED_FAILURES], key);
  const isOnlyLate = verdict.code !== 0 && unexpectedOf(verdict.output).join() === TIMED;
  return isOnlyLate ? { ...(await judgeTimed(key)), suite } : verdict;
}

/** Runs the scenario alone, and again if it is late. */
async function judgeTimed(key: string): Promise<Verdict> {
  for (let tries = 1; ; tries += 1) {
    const verdict = await run(TIMED, ['--scenario', TIMED], key);
    if (verdict.code === 0 || tries === TIMED_TRIES) return verdict;
  }
}

/** The scenarios that fail unexpectedly. */
function unexpectedOf(output: string): string[] {
  const [, list = ''] = /not in baseline\):[^\n]*\n((?:[^\n]*\u2717 [^\n]*\n)+)/.exec(output) ?? [];
  return [...list.matchAll(/\u2717 (\S+)/g)].map(([, name = '']) => name);
}

async function run(suite: string, what: readonly string[], key: string): Promise<Verdict> {
  const results = mkdtempSync(join(tmpdir(), 'conformance-'));
  const line = [
    SUITE,
    'client',
    '--command',
    `${process.execPath} ${CLIENT}`,
    ...what,
    '--timeout',
    String(SCENARIO_MS),
    '-o',
    results,
  ];
  const judging = spawn(process.execPath, line, {
    env: { ...process.env, SERVICE_URL: service.baseUrl, SERVICE_KEY: key },
  });
  let output = '';
  for (const stream of [judging.stdout, judging.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(judging, 'close')) as [number];
  rmSync(results, { recursive: true, force: true });
  return { suite, code, output: code === 0 ? '' : output.slice(-10_000) };
}

async function oneByOne(suites: readonly string[], key: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const suite of suites) verdicts.push(await judge(suite, key));
  return verdicts;
}

it(
  'the service passes the suites of the protocol for clients, but for what it does not offer',
  async () => {
    service.models.always(doesAsTold);
    const { key } = await service.organization();
    const verdicts = (await Promise.all(SUITES.map((suites) => oneByOne(suites, key)))).flat();
    expect(verdicts).toEqual(SUITES.flat().map((suite) => ({ suite, code: 0, output: '' })));
  },
  2 * SCENARIO_MS,
);
