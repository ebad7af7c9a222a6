/** An app that an integration of type `managed-mcp` may be for. */
export interface CatalogueApp {
  readonly slug: string;
  readonly name: string;
  /** `remote`: a server somewhere else; `local`: a process of this service. */
  readonly transport: 'remote' | 'local';
  /** A person has to authorize the connection. Such an app has no `envNames`. */
  readonly oauth: boolean;
  /** The values that it needs of a customer, each of them. */
  readonly envNames: readonly string[];
}

export abstract class AppCatalogue {
  /** By slug. */
  abstract all(): readonly CatalogueApp[];
  abstract find(slug: string): CatalogueApp | undefined;
}
