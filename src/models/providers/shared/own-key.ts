import { ValidationFailed } from '../../../platform/errors/index.js';
/** What a caller may send about whose key pays, whatever the provider. */
export interface KeyChoice {
  readonly useOwnApiKey?: boolean;
  /** Goes to the vault; no settings object holds it. */
  readonly apiKey?: string;
}

type KeyRequest = KeyChoice & { readonly type: string };

/** When an agent may have an API key of its own. Both throw ValidationFailed. */
export interface OwnKeyRules {
  create(request: KeyRequest): void;
  change(request: KeyRequest): void;
}

/** Chosen when the agent is made; what a change may say about it is what the body's class declares. */
export const OPTIONAL_OWN_KEY: OwnKeyRules = {
  create({ useOwnApiKey = false, apiKey }) {
    if (useOwnApiKey && apiKey === undefined) {
      throw new ValidationFailed('body/provider/apiKey is required when useOwnApiKey is true');
    }
    if (!useOwnApiKey && apiKey !== undefined) {
      throw new ValidationFailed('body/provider/apiKey is accepted only when useOwnApiKey is true');
    }
  },
  change() {
    // The body that changes an agent has no field for a key.
  },
};

/** As `OPTIONAL_OWN_KEY`; a change may go over to an own key, or to another one, and not back. */
export const OWN_KEY_FOR_GOOD: OwnKeyRules = {
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
