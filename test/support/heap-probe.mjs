// Loaded before the service with --expose-gc: on SIGUSR2 it collects garbage and writes the bytes of the heap, and of
// buffers outside of it, to the file HEAP_PROBE_FILE.
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env.HEAP_PROBE_FILE ?? '';

process.on('SIGUSR2', () => {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  writeFileSync(`${file}.part`, String(heapUsed + arrayBuffers));
  renameSync(`${file}.part`, file);
});
