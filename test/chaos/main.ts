/**
 * The chaos run: breaks a cluster of the built service for a while, with customers on it, and compares what it holds afterwards with what
 * it has acknowledged. See docs/chaos.md for `npm run chaos -- [--minutes N] [--seed N] [--customers N] [--former <folder>] [--keep]`.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findPrograms } from './cluster/programs.ts';
import { ChaosRun } from './chaos-run.ts';
import { summaryOf } from './report.ts';

const RESULTS = join(import.meta.dirname, 'results');
/** For a caller that wants to know that nothing was tested. */
const NOT_RUN = 3;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    customers: { type: 'string', default: '8' },
    former: { type: 'string' },
    keep: { type: 'boolean', default: false },
    probe: { type: 'boolean', default: false },
  },
});

function writeLine(line: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 23)} ${line}\n`);
}

const programs = findPrograms();
if (typeof programs === 'string') {
  process.stderr.write(`${programs}\n`);
  process.exit(NOT_RUN);
}
if (options.probe) process.exit(0);

const folder = mkdtempSync(join(tmpdir(), 'chaos-'));
// PostgreSQL runs as another user, and makes its folders here.
chmodSync(folder, 0o777);
const chaos = new ChaosRun({
  programs,
  folder,
  build: resolve('.'),
  former: options.former === undefined ? undefined : resolve(options.former),
  minutes: Number(options.minutes),
  seed: Number(options.seed),
  customers: Number(options.customers),
  writeLine,
});
let clearing: Promise<void> | undefined;
function clear(): Promise<void> {
  clearing ??= chaos.close();
  return clearing;
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void clear().finally(() => process.exit(1)));

try {
  writeLine(`seed ${options.seed}, ${options.minutes} minutes, logs in ${folder}`);
  const report = await chaos.run();
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, 'latest.json'), `${JSON.stringify(report, null, 2)}\n`);
  process.stdout.write(`${summaryOf(report)}\n`);
  const isClean = report.findings.length === 0;
  process.exitCode = isClean ? 0 : 1;
  await clear();
  if (isClean && !options.keep) rmSync(folder, { recursive: true, force: true });
} catch (error) {
  writeLine(`The chaos run failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exitCode = 1;
  await clear();
}
process.exit();
