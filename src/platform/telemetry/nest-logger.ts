import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';
import { redactText } from './redact.js';

/** What Nest, and what logs through Nest's own `Logger`, has to say, in the service's log. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  /** At each start Nest logs a line here for every module and every route, which tell an operator nothing. */
  log(): void {
    // Left out.
  }

  verbose(message: unknown, ...parameters: unknown[]): void {
    this.debug(message, ...parameters);
  }

  debug(message: unknown, ...parameters: unknown[]): void {
    this.logger.debug(fieldsOf(message, parameters), textOf(message));
  }

  warn(message: unknown, ...parameters: unknown[]): void {
    this.logger.warn(fieldsOf(message, parameters), textOf(message));
  }

  error(message: unknown, ...parameters: unknown[]): void {
    this.logger.error(fieldsOf(message, parameters), textOf(message));
  }

  fatal(message: unknown, ...parameters: unknown[]): void {
    this.error(message, ...parameters);
  }
}

/** Not a constant sentence as the service's own messages are, so it may hold what has to be redacted. */
function textOf(message: unknown): string {
  const text = message instanceof Error ? message.message : message;
  return typeof text === 'string' ? redactText(text) : 'The framework reported';
}

/** Nest passes the name of the reporting class last, and a stack before it. */
function fieldsOf(message: unknown, parameters: unknown[]): object {
  const context = parameters.at(-1);
  const err = [message, ...parameters].find((parameter) => parameter instanceof Error);
  return {
    ...(typeof context === 'string' ? { context } : {}),
    ...(err === undefined ? {} : { err }),
    ...(parameters.length > 1 && typeof parameters[0] === 'string' ? { stack: parameters[0] } : {}),
    ...(typeof message === 'object' && !(message instanceof Error) ? { details: message } : {}),
  };
}
