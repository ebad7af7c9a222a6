// Reads what jest's `--json --outputFile` has written.
//   failed <file>      the test files that failed, one a line; fails where a second try would say nothing
//   sum <folder>       the figures of all runs in the folder; of a file that was run again, `<run>.again.json`, those of its second try
import { existsSync, globSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** More files than that do not fail by chance. */
const BY_CHANCE = 4;

const read = (file) => JSON.parse(readFileSync(file, 'utf8')).testResults;
const failedOf = (results) => results.filter(({ status }) => status === 'failed');

function printFailed(file) {
  const failed = existsSync(file) ? failedOf(read(file)) : [];
  process.exitCode = failed.length > 0 && failed.length <= BY_CHANCE ? 0 : 1;
  if (process.exitCode === 0) for (const { name } of failed) process.stdout.write(`${relative('.', name)}\n`);
}

function printSum(folder) {
  const tests = { passed: 0, failed: 0 };
  for (const file of globSync(`${folder}/*.json`).filter((name) => !name.endsWith('.again.json'))) {
    const again = file.replace(/\.json$/, '.again.json');
    const seconds = new Map((existsSync(again) ? read(again) : []).map((result) => [result.name, result]));
    for (const result of read(file))
      for (const { status } of (seconds.get(result.name) ?? result).assertionResults)
        if (status in tests) tests[status] += 1;
  }
  process.stdout.write(`tests: ${tests.passed} passed, ${tests.failed} failed\n`);
}

const [call, path = '.'] = process.argv.slice(2);
switch (call) {
  case 'failed':
    printFailed(path);
    break;
  case 'sum':
    printSum(path);
    break;
  default:
    process.stderr.write('usage: test-results.mjs failed <file>|sum <folder>\n');
    process.exitCode = 2;
}
