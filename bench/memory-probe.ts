/**
 * Loaded into the service before its start: on `SIGUSR2` it collects garbage and writes the memory usage to `MEMORY_PROBE_FILE`.
 */
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env['MEMORY_PROBE_FILE'] ?? '';

process.on('SIGUSR2', () => {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.part`, file);
});
