import { type CommandArguments, idArgument, requiredOption } from '../../platform/command-line/index.js';

export function positionalId({ positionals }: CommandArguments): string {
  return idArgument('id', positionals[0]);
}

/** @throws UsageError, ValidationFailed */
export function organizationOf(given: CommandArguments): string {
  return idArgument('org', requiredOption(given, 'org'));
}
