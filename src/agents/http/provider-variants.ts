import { PROVIDER_BODIES, PROVIDER_TYPES } from '../../models/index.js';
import type { Variants } from '../../platform/http/index.js';

/** The request or response bodies of `provider` by its type; types without such a body are left out. */
export function providerVariants(name: 'create' | 'change' | 'response'): Variants {
  return Object.fromEntries(PROVIDER_TYPES.map((type) => [type, () => PROVIDER_BODIES[type][name]]));
}
