import type { LoggerService } from '@nestjs/common';
import { messageOf } from '../errors/index.js';
import type { Logger } from './logger.js';
import { redactText } from './redact.js';

/** Writes the messages of Nest, and of code that uses Nest's own `Logger`, to the log of the service. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(): void {
    // At each start Nest logs a line for every module and route, which are of no use to an operator.
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

/** Redacted, because messages of other code are no constant sentences. */
function textOf(message: unknown): string {
  const text = message instanceof Error ? messageOf(message) : message;
  return typeof text === 'string' ? redactText(text) : 'The framework reported an object';
}

/** Nest passes the name of the logging class last, and a stack before it. */
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
