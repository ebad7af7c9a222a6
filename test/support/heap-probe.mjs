// Loaded before the service with --expose-gc: on SIGUSR2 it writes what the heap holds to the file HEAP_PROBE_FILE, in bytes as JSON.
// `oldBefore`: the old generation, with the garbage that only a collection of the whole heap removes. Then it collects all garbage.
// `old` is the old generation after that, `kept` the whole heap, with buffers outside of it.
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapSpaceStatistics } from 'node:v8';

const file = process.env.HEAP_PROBE_FILE ?? '';

process.on('SIGUSR2', () => {
  const oldBefore = oldBytes();
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  writeFileSync(`${file}.part`, JSON.stringify({ oldBefore, old: oldBytes(), kept: heapUsed + arrayBuffers }));
  renameSync(`${file}.part`, file);
});

function oldBytes() {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
}
