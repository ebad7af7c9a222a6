import type { Options } from '@mikro-orm/core';
import { DocumentHydrator } from './json-document.js';
import type { ContextSchema } from './schema.js';

export function ormOptions(
  schemas: readonly ContextSchema[],
): Pick<Options, 'entities' | 'hydrator' | 'forceUtcTimezone' | 'discovery' | 'logger'> {
  return {
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
    // The service logs in its own format.
    logger: () => undefined,
    hydrator: DocumentHydrator,
    entities: schemas.flatMap((schema) => [...schema.entities]),
  };
}
