// Builds the release before this one, which a rolling upgrade runs beside this one, and prints its folder:
// the last tag before this commit, or without tags the commit in .ci/former-release. FORMER_RELEASE names another commit.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

const run = (command, words, options = {}) =>
  execFileSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });

function commitOf(name) {
  return run('git', ['rev-parse', '--verify', `${name}^{commit}`]).trim();
}

function formerCommit() {
  const { FORMER_RELEASE } = process.env;
  if (FORMER_RELEASE) return commitOf(FORMER_RELEASE);
  const tag = run('git', ['tag', '--merged', 'HEAD~', '--sort=-creatordate']).split('\n')[0];
  return commitOf(tag || readFileSync('.ci/former-release', 'utf8').trim());
}

const commit = formerCommit();
const folder = resolve('node_modules/.cache/former-release', commit);
if (!existsSync(folder)) {
  const part = `${folder}.${process.pid}`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  execFileSync('tar', ['-x', '-C', part], { input: run('git', ['archive', commit], { encoding: 'buffer' }) });
  // With the packages of that release: its bundle imports them.
  run('npm', ['ci', '--prefer-offline'], { cwd: part });
  run('npm', ['run', 'build'], { cwd: part });
  try {
    renameSync(part, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
process.stdout.write(`${folder}\n`);
