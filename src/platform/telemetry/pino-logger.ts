import { type DestinationStream, type LoggerOptions, pino } from 'pino';
import type { Settings } from '../config/index.js';
import type { Logger } from './logger.js';
import { redactFields } from './redact.js';

/** Operator commands print their result on standard output, so they log to standard error. */
export type LogDestination = 'stdout' | 'stderr' | DestinationStream;

/** The process's logger: JSON lines with `level` as a word and `time` in ISO 8601, free of secrets. */
export function createLogger(settings: Pick<Settings, 'logLevel'>, destination: LogDestination = 'stdout'): Logger {
  const options: LoggerOptions = {
    level: settings.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // `redactFields` has redacted the error; pino's own serializer would not.
    serializers: { err: (error: unknown) => error },
    formatters: { level: (label) => ({ level: label }), log: redactFields },
  };
  const stream = typeof destination === 'string' ? pino.destination(destination === 'stdout' ? 1 : 2) : destination;
  return pino(options, stream);
}
