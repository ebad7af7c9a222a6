export { ENDED_LOG_MS } from './limits.js';
export { RunLog, type RunLogEntry, RunLogUnavailable, type RunLogWriter } from './run-log.js';
export { RunLogModule } from './run-log.module.js';
