import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../../../../test/support/until.js';

/** Parses a page with a parser of the program in the given folder. With `stay` it then prints the process id and keeps running. */
const SCRIPT = `
const [base, task] = process.argv.slice(1);
const load = (path) => import(base + '/dist/' + path);
const { ChildProcesses } = await load('platform/processes/index.js');
const { readSettings } = await load('platform/config/index.js');
const { startParser } = await load('knowledge/parsing/application/pool/start-parser.js');
const { ParserPool } = await load('knowledge/parsing/application/pool/parser-pool.js');
const { parseWith } = await load('knowledge/parsing/application/document-parser.js');
const processes = new ChildProcesses(readSettings({ PATH: process.env.PATH }, { role: 'all', demo: false }));
let child;
const pool = new ParserPool(async () => (child = await startParser(processes)), 1);
async function* content() { yield Buffer.from('<title>It is read</title><p>x'); }
const document = { organizationId: 'a', content, size: 30, contentType: 'text/html', name: 'a.html', url: null, formats: ['html'] };
const { title } = await parseWith(pool, document, new AbortController().signal);
if (task === 'stay') { console.log(child.pid); setInterval(() => {}, 1_000); }
else { await pool.close(); console.log(title); }
`;
const arguments_ = (folder: string, ...more: readonly string[]): string[] => [
  '--input-type=module',
  '-e',
  SCRIPT,
  folder,
  ...more,
];

let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'parser-')));
  symlinkSync(resolve('.'), join(folder, 'linked'));
  mkdirSync(join(folder, 'parts'));
  for (const part of ['dist', 'node_modules', 'package.json']) symlinkSync(resolve(part), join(folder, 'parts', part));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A zombie does not count: the process that adopts orphans may be slow to collect them. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a parser process', () => {
  it.each([
    ['in the folder of the program', resolve('.'), []],
    ['through a link to the program', () => join(folder, 'linked'), []],
    ['through a link that Node does not resolve', () => join(folder, 'linked'), ['--preserve-symlinks']],
    ['in a folder where each part of the program is a link', () => join(folder, 'parts'), ['--preserve-symlinks']],
  ] as const)('starts %s, whatever the working directory of the service is', async (_where, place, options) => {
    const base = typeof place === 'string' ? place : place();
    const { stdout } = await promisify(execFile)(process.execPath, [...options, ...arguments_(base)], { cwd: folder });
    expect(stdout).toBe('It is read\n');
  });

  it('does not outlive a service that is killed', async () => {
    const owner = spawn(process.execPath, arguments_(resolve('.'), 'stay'), {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = (await once(owner.stdout, 'data')) as [Buffer];
    const pid = Number(output.toString());
    expect(isRunning(pid)).toBe(true);
    owner.kill('SIGKILL');
    await once(owner, 'close');
    await until(() => !isRunning(pid), 'the parser to be gone');
  });
});
