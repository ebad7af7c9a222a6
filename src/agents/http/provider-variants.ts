import { PROVIDERS } from '../../models/index.js';
import type { Variants } from '../../platform/http/index.js';

/** The variants of `provider` in a request or response, by type. */
export function providerVariants(name: 'create' | 'change' | 'response'): Variants {
  return Object.fromEntries(PROVIDERS.map(({ type, bodies }) => [type, () => bodies[name]]));
}
