import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { COMPILE_CACHE, SHORT_LIVED } from './service-process.js';

const ENTRY = resolve('dist/cli.js');

export interface OperatorOutcome {
  readonly code: number | null;
  /** What it wrote to standard output, read as JSON; undefined where that was nothing. */
  readonly answer: Readonly<Record<string, unknown>> | undefined;
  readonly complaint: string;
}

export interface WrittenOutcome {
  readonly code: number | null;
  /** The whole standard output. */
  readonly output: string;
  readonly complaint: string;
}

/** The operator's command line as a process of its own. */
export async function operate(
  line: readonly string[],
  environment: Readonly<Record<string, string>>,
  entry = ENTRY,
): Promise<OperatorOutcome> {
  const { code, output, complaint } = await written(line, environment, entry);
  return { code, answer: output === '' ? undefined : (JSON.parse(output) as Record<string, unknown>), complaint };
}

/** The same, for output that is not JSON. */
export async function written(
  line: readonly string[],
  environment: Readonly<Record<string, string>>,
  entry = ENTRY,
): Promise<WrittenOutcome> {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  const child = spawn(process.execPath, [...SHORT_LIVED, entry, ...line], {
    env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE: COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, complaint] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint += chunk));
  await once(child, 'close');
  return { code: child.exitCode, output, complaint };
}
