import { DatabaseUnavailable } from '../../src/platform/database/index.js';

/** The next call of the method does its work, and then fails as when the connection is lost with the answer of the database. */
export function loseNextAnswer<Name extends string>(
  repository: Readonly<Record<Name, (...given: never[]) => Promise<unknown>>>,
  name: Name,
): void {
  const execute = repository[name].bind(repository) as (...given: unknown[]) => Promise<unknown>;
  Reflect.set(repository, name, async (...given: unknown[]) => {
    // Uncovers the method of the class.
    Reflect.deleteProperty(repository, name);
    await execute(...given);
    throw new DatabaseUnavailable(new Error('The answer was lost'));
  });
}
