import { ValidationFailed } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import { type CommandArguments, requiredOption } from '../../platform/command-line/index.js';

export function positionalId({ positionals }: CommandArguments): string {
  return idOf('id', positionals[0] ?? '');
}

/** @throws UsageError, ValidationFailed */
export function organizationOf(given: CommandArguments): string {
  return idOf('org', requiredOption(given, 'org'));
}

/** @throws ValidationFailed */
export function idOf(field: string, text: string): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  throw new ValidationFailed(`${field}: '${text}' is not an id (a UUID)`);
}
