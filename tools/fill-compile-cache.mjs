// Fills node_modules/.cache/compile with the compiled code of the service, for an installation that is read-only later: starts it once
// on a folder of its own, runs a command, and loads the code that only other modes need.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const BUNDLE = resolve('dist/bundle');
/** They run when they are loaded. */
const PROGRAMS = new Set(['main.js', 'cli.js', 'parser.js', 'prepare-database.js']);
const READY = /Listening on (http:\S+)/;
const folder = mkdtempSync(join(tmpdir(), 'compile-'));
const env = { ...process.env, DATA_DIR: folder, PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'warn' };

async function startAndStop() {
  const service = spawn(process.execPath, ['dist/main.js', 'all'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(service, 'exit');
  let output = '';
  for await (const chunk of service.stdout) {
    output += chunk;
    const url = READY.exec(output)?.[1];
    if (url === undefined) continue;
    await fetch(`${url}/health/ready`);
    service.kill('SIGTERM');
    break;
  }
  const [code] = await exited;
  if (code !== 0) throw new Error(`The service ended with ${code}`);
}

async function runCommand() {
  const [code] = await once(spawn(process.execPath, ['dist/cli.js', 'org', 'list'], { env, stdio: 'ignore' }), 'exit');
  if (code !== 0) throw new Error(`The command ended with ${code}`);
}

async function loadTheRest() {
  enableCompileCache(resolve('node_modules/.cache/compile'));
  for (const name of readdirSync(BUNDLE).filter((file) => file.endsWith('.js') && !PROGRAMS.has(file))) {
    await import(pathToFileURL(join(BUNDLE, name)).href);
  }
}

try {
  await startAndStop();
  await runCommand();
  await loadTheRest();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
