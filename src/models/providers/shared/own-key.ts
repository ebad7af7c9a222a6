import { ValidationFailed } from '../../../platform/errors/index.js';

/** The fields of a request that choose the API key, for every provider. */
export interface KeyChoice {
  readonly useOwnApiKey?: boolean;
  /** Stored in the vault, never in settings. */
  readonly apiKey?: string;
}

type KeyRequest = KeyChoice & { readonly type: string };

/** Check whether a request may choose the agent's own API key. @throws ValidationFailed */
export interface OwnKeyRules {
  create(request: KeyRequest): void;
  change(request: KeyRequest): void;
}

/** The key is chosen at creation. The body class of changes declares no field for it. */
export const OPTIONAL_OWN_KEY: OwnKeyRules = {
  create({ useOwnApiKey = false, apiKey }) {
    if (useOwnApiKey && apiKey === undefined) {
      throw new ValidationFailed('body/provider/apiKey is required when useOwnApiKey is true');
    }
    if (!useOwnApiKey && apiKey !== undefined) {
      throw new ValidationFailed('body/provider/apiKey is accepted only when useOwnApiKey is true');
    }
  },
  change: () => undefined,
};

/** As `OPTIONAL_OWN_KEY`, but a change may also set or replace the own key. It cannot go back to the managed key. */
export const IRREVOCABLE_OWN_KEY: OwnKeyRules = {
  ...OPTIONAL_OWN_KEY,
  change({ useOwnApiKey, apiKey }) {
    if (useOwnApiKey === undefined && apiKey !== undefined) {
      throw new ValidationFailed('body/provider/apiKey is accepted only with useOwnApiKey true');
    }
    if (useOwnApiKey === false) {
      throw new ValidationFailed(
        'body/provider/useOwnApiKey must be true: an agent does not go back to the managed key',
      );
    }
  },
};
