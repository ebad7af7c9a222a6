export { RunLog, type RunLogEntry, type RunLogWriter } from './run-log.js';
export { MemoryRunLog } from './memory-run-log.js';
export { RunLogUnavailable } from './run-log.errors.js';
export { RunLogModule } from './run-log.module.js';
