import type { LoggerService } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Nest's warnings and errors in the service's log. Its notes on modules and routes say nothing at run time. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(): void {
    // Start-up noise.
  }

  debug(): void {
    // Start-up noise.
  }

  verbose(): void {
    // Start-up noise.
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

function textOf(message: unknown): string {
  if (message instanceof Error) return message.message;
  return typeof message === 'string' ? message : 'The framework reported';
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
