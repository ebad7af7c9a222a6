// The built service. Answers `watch` over its channel and begins to watch itself; `report` answers what was seen since:
// how long at most its thread computed without letting anything else have its turn, and how much memory came on top.
// Computing time and not the clock's, so that other processes of the machine do not count. `pace` answers what work of a
// fixed size takes of it now.
import { readFileSync, writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { setInterval } from 'node:timers';
import { pathToFileURL } from 'node:url';

const MIB = 1024 * 1024;
let longest = 0;
let before = process.threadCpuUsage();
let restingMemory = 0;

function look() {
  const { user, system } = process.threadCpuUsage(before);
  before = process.threadCpuUsage();
  longest = Math.max(longest, (user + system) / 1000);
}

/** The most memory since it was last forgotten; Linux alone keeps it. */
function peakMemory() {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(peak) * 1024;
}

const REFERENCE = JSON.stringify(
  Array.from({ length: 100_000 }, (_, index) => ({ [`field-${index % 100}`]: 'x'.repeat(40) })),
);

/** Reads and writes 5.6 MB of JSON five times. @returns the median, in milliseconds of computing time */
function pace() {
  const takes = Array.from({ length: 5 }, () => {
    const start = process.threadCpuUsage();
    JSON.stringify(JSON.parse(Buffer.from(REFERENCE).toString()));
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1000;
  });
  return takes.sort((one, other) => one - other)[2];
}

process.on('message', (question) => {
  if (question === 'pace') return process.send(pace());
  if (question === 'watch') {
    if (process.memoryUsage().heapUsed > 256 * MIB) globalThis.gc();
    writeFileSync('/proc/self/clear_refs', '5');
    restingMemory = peakMemory();
    before = process.threadCpuUsage();
    longest = 0;
    process.send('watching');
  } else {
    look();
    process.send({ stallMs: longest, memoryMiB: (peakMemory() - restingMemory) / MIB });
  }
});
setInterval(look, 1);

await import(pathToFileURL(resolve('dist/main.js')).href);
// Kept at a process's end otherwise, and this one is killed.
flushCompileCache();
