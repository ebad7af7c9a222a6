import { BooleanField, field, isText, rule, withMessage, StringField } from '../../../platform/http/index.js';
import type { CatalogueModel } from '../../domain/catalogue-model.js';

const MAX_MODEL = 255;

export const OPTIONAL = { optional: true } as const;
export const OWN_KEY = { min: 1, max: 500, optional: true } as const;

type Models = readonly CatalogueModel[];

/** The field accepts any text; the check against the catalogue lists the known models in its error. */
export function NewModelField(models: Models): PropertyDecorator {
  return modelField(models, `The default is ${idsOf(models, ({ isDefault }) => isDefault)}.`);
}

export function ChangedModelField(models: Models): PropertyDecorator {
  return modelField(models, 'The stored model is accepted even if it is no longer in the list.');
}

function modelField(models: Models, description: string): PropertyDecorator {
  const ownKeyOnly = idsOf(models, (model) => model.ownKeyOnly);
  const keys = ownKeyOnly === '' ? '' : ` Only with an own key: ${ownKeyOnly}.`;
  const options = { optional: true, description: `${description}${keys} GET /v1/provider-models describes each.` };
  const isModel = (value: unknown): boolean => isText(value, { max: MAX_MODEL });
  const schema = { type: 'string', enum: models.map(({ id }) => id) };
  return field(
    options,
    schema,
    rule('isModel', isModel, withMessage(`must be a string of at most ${MAX_MODEL} characters`)),
  );
}

export function idsOf(models: Models, matches: (model: CatalogueModel) => boolean): string {
  const matching = models.filter(matches);
  return matching.map(({ id }) => id).join(', ');
}

export class KeyedProviderBody {
  @BooleanField({ optional: true, description: 'false, the default, uses the managed key; true requires apiKey.' })
  readonly useOwnApiKey?: boolean;
  @StringField({ ...OWN_KEY, description: 'Only with useOwnApiKey true. Never returned.' })
  readonly apiKey?: string;
}

export class ProviderResponse {
  @StringField({ description: 'A model of the catalogue, or one that was in the catalogue when it was set.' })
  readonly model!: string;
  @BooleanField({ description: 'Whether the agent uses your own API key; such runs cost no credits.' })
  readonly useOwnApiKey!: boolean;
}
