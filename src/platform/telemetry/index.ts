export { Logger } from './logger.js';
export { NestLogger } from './nest-logger.js';
export { createLogger, type LogDestination } from './pino-logger.js';
export { REDACTED, redact, redactText } from './redact.js';
export { TelemetryModule } from './telemetry.module.js';
