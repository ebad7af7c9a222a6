import { ValidationFailed } from '../errors/index.js';
import { isUuid } from '../ids/index.js';

/**
 * An id on an operator's line, in lower case.
 * @param name of the argument, for the message
 * @throws ValidationFailed
 */
export function idArgument(name: string, text = ''): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  throw new ValidationFailed(`${name}: '${text}' is not an id (a UUID)`);
}
