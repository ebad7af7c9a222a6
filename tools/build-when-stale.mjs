// Builds dist/ only when the source is newer. A build empties dist/ first, and a service that runs from it would
// miss the files that it has not loaded yet. So a second process (a worker, the cli, a test) must not build again what
// is built. Prints nothing unless the build fails, because standard output belongs to the command that follows.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SOURCES = [
  ...[
    'src',
    'nest-cli.json',
    '.swcrc',
    'tools/build.mjs',
    'tools/bundle.mjs',
    'tools/young-functions.mjs',
    'widget/src',
    'widget/package.json',
    'widget/build.mjs',
  ],
  // The bundle contains dependencies, and npm writes this file when it changes them.
  'node_modules/.package-lock.json',
];
const OUTPUTS = ['dist/main.js', 'dist/cli.js', 'dist/widget/agent-chat.js', 'dist/database.zst'];
const LOCK = 'node_modules/.cache/build.lock';
const LOCK_POLL_MS = 100;
const MAX_BUILD_MS = 120_000;

/** The modification times of a file, or of all files and folders in a folder; deleting a file changes the time of its folder. */
function* times(path, countFolders) {
  const stats = statSync(path);
  if (!stats.isDirectory()) return yield stats.mtimeMs;
  if (countFolders) yield stats.mtimeMs;
  for (const name of readdirSync(path)) yield* times(join(path, name), countFolders);
}

const latest = (values) => values.reduce((a, b) => Math.max(a, b), 0);
const earliest = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);

function isStale() {
  if (OUTPUTS.some((output) => statSync(output, { throwIfNoEntry: false }) === undefined)) return true;
  const changed = latest(SOURCES.flatMap((source) => [...times(source, true)]));
  // The earliest, because a file edited while a build ran is newer than some outputs and older than others.
  return changed >= earliest([...times('dist', false)]);
}

/** Whether the process with the lock has died, and left dist/ incomplete. */
function holderHasDied() {
  try {
    // Another process may have the number by now; no build takes this long.
    if (Date.now() - statSync(LOCK).mtimeMs > MAX_BUILD_MS) return true;
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0);
    return false;
  } catch (error) {
    // Any other code means that the process is alive, or that the lock was just released.
    return error.code === 'ESRCH';
  }
}

/** Resolves with whether an earlier build was interrupted. */
async function takeLock() {
  mkdirSync(dirname(LOCK), { recursive: true });
  for (let cutOff = false; ;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      return cutOff;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (holderHasDied()) {
      cutOff = true;
      rmSync(LOCK, { force: true });
    } else {
      await sleep(LOCK_POLL_MS);
    }
  }
}

function build() {
  const { status } = spawnSync(process.execPath, ['tools/build.mjs'], { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) process.exitCode = 1;
}

const cutOff = await takeLock();
try {
  if (cutOff || isStale()) build();
} finally {
  rmSync(LOCK, { force: true });
}
