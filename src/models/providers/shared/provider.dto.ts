import { BooleanField, StringField } from '../../../platform/http/index.js';

const MAX_MODEL = 255;

/** Options of the fields that providers have in common. */
export const OPTIONAL = { optional: true } as const;
export const CHANGED_MODEL = { optional: true, max: MAX_MODEL } as const;
export const OWN_KEY = { min: 1, max: 500, optional: true } as const;

const MODEL = { ...CHANGED_MODEL, description: 'A model of the provider; its default model when omitted.' } as const;

/** The model and whose key pays for it, in the body that creates an agent. */
export class KeyedProviderBody {
  @StringField(MODEL)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'false, the default, uses the managed key; true requires apiKey.' })
  readonly useOwnApiKey?: boolean;
  @StringField({ ...OWN_KEY, description: 'Only with useOwnApiKey true. Never returned.' })
  readonly apiKey?: string;
}

/** The same in answers. */
export class ProviderResponse {
  @StringField()
  readonly model!: string;
  @BooleanField()
  readonly useOwnApiKey!: boolean;
}
