// Builds dist/: every file of src/, the bundles that processes load, the widget, and the database that a first start
// begins with. Prints nothing unless a step fails.
import { spawnSync } from 'node:child_process';

const STEPS = [
  ['node_modules/.bin/nest', 'build'],
  [process.execPath, 'tools/bundle.mjs'],
  [process.execPath, 'widget/build.mjs', '--outdir', 'dist/widget'],
  [process.execPath, 'dist/prepare-database.js'],
];

for (const [command, ...words] of STEPS) {
  const { status, stdout, stderr, error } = spawnSync(command, words, { encoding: 'utf8' });
  if (status === 0) continue;
  process.stderr.write(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n`);
  process.exitCode = 1;
  break;
}
