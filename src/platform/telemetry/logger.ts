/**
 * The log, as JSON lines. `message` is a constant sentence; all values (ids, counts, an `err`) belong into `fields`, where secrets are
 * redacted.
 */
export abstract class Logger {
  abstract debug(fields: object, message: string): void;
  abstract info(fields: object, message: string): void;
  abstract warn(fields: object, message: string): void;
  abstract error(fields: object, message: string): void;
}
