import { type DestinationStream, type Logger as Pino, pino } from 'pino';
import type { Settings } from '../config/index.js';
import { Logger } from './logger.js';
import { redact } from './redact.js';

/** Operator commands answer on standard output and so log to standard error. */
export type LogDestination = 'stdout' | 'stderr' | DestinationStream;

export class PinoLogger extends Logger {
  constructor(private readonly pino: Pino) {
    super();
  }

  debug(fields: object, message: string): void {
    if (this.pino.isLevelEnabled('debug')) this.pino.debug(redact(fields), message);
  }

  info(fields: object, message: string): void {
    if (this.pino.isLevelEnabled('info')) this.pino.info(redact(fields), message);
  }

  warn(fields: object, message: string): void {
    if (this.pino.isLevelEnabled('warn')) this.pino.warn(redact(fields), message);
  }

  error(fields: object, message: string): void {
    if (this.pino.isLevelEnabled('error')) this.pino.error(redact(fields), message);
  }

  child(fields: object): Logger {
    return new PinoLogger(this.pino.child(redact(fields) as Record<string, unknown>));
  }
}

/** The process's logger: JSON lines with `level` as a word and `time` in ISO 8601. */
export function createLogger(settings: Pick<Settings, 'logLevel'>, destination: LogDestination = 'stdout'): Logger {
  const options = {
    level: settings.logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors come here already redacted; the library's own copy of them is not.
    serializers: { err: (error: unknown) => error },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const stream = typeof destination === 'string' ? pino.destination(destination === 'stdout' ? 1 : 2) : destination;
  return new PinoLogger(pino(options, stream));
}
