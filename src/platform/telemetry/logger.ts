/**
 * Where the service writes what it did, as JSON lines. `fields` are searchable facts (ids, counts,
 * an `err`), `message` is a constant sentence: values go into `fields`, where secrets are redacted.
 */
export abstract class Logger {
  abstract debug(fields: object, message: string): void;
  abstract info(fields: object, message: string): void;
  abstract warn(fields: object, message: string): void;
  abstract error(fields: object, message: string): void;
}
