import { PROVIDER_BODIES } from '../../models/index.js';
import type { DtoClass, Variants } from '../../platform/http/index.js';

type Bodies = Readonly<Partial<Record<'create' | 'change' | 'response', DtoClass>>>;

/** The variants of `provider`, by its type: of those that have such a body. */
export function providerVariants(name: keyof Bodies): Variants {
  return Object.fromEntries(
    Object.entries<Bodies>(PROVIDER_BODIES).flatMap(([type, { [name]: body }]) => (body ? [[type, () => body]] : [])),
  );
}
