import type { DtoClass, Variants } from '../../platform/http/index.js';

/** The variants of a union over providers, by their types. */
export function variantsOf<Provider extends { readonly type: string }>(
  providers: readonly Provider[],
  classOf: (provider: Provider) => DtoClass,
): Variants {
  return Object.fromEntries(providers.map((provider) => [provider.type, () => classOf(provider)]));
}
