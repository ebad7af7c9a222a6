import { BooleanField, field, isText, rule, says, StringField } from '../../../platform/http/index.js';
import type { CatalogueModel } from '../../domain/catalogue-model.js';

/** In characters. */
export const MAX_MODEL = 255;

/** Options of the fields that providers have in common. */
export const OPTIONAL = { optional: true } as const;
export const OWN_KEY = { min: 1, max: 500, optional: true } as const;

type Models = readonly Pick<CatalogueModel, 'id' | 'ownKeyOnly' | 'isDefault'>[];

/** `model` in the body that creates an agent. Which models there are is the catalogue's to judge, and its refusal lists them. */
export function NewModelField(models: Models): PropertyDecorator {
  return modelField(models, `The default is ${idsOf(models, ({ isDefault }) => isDefault)}.`);
}

/** The same in the body that changes one. */
export function ChangedModelField(models: Models): PropertyDecorator {
  return modelField(models, 'The model that is stored can be sent again, also when it is no longer in the list.');
}

function modelField(models: Models, description: string): PropertyDecorator {
  const ownKeyOnly = idsOf(models, (model) => model.ownKeyOnly);
  const keys = ownKeyOnly === '' ? '' : ` Only with an own key: ${ownKeyOnly}.`;
  const options = { optional: true, description: `${description}${keys} GET /v1/provider-models tells what each can do.` };
  const isModel = (value: unknown): boolean => isText(value, { max: MAX_MODEL });
  const schema = { type: 'string', enum: models.map(({ id }) => id) };
  return field(options, schema, rule('isModel', isModel, says(`must be a string of at most ${MAX_MODEL} characters`)));
}

/** For a sentence: the models of which it is true. */
export function idsOf<Model extends { readonly id: string }>(models: readonly Model[], isMeant: (model: Model) => boolean): string {
  return models.filter(isMeant).map(({ id }) => id).join(', ');
}

/** Whose key pays for the model, in the body that creates an agent. */
export class KeyedProviderBody {
  @BooleanField({ optional: true, description: 'false, the default, uses the managed key; true requires apiKey.' })
  readonly useOwnApiKey?: boolean;
  @StringField({ ...OWN_KEY, description: 'Only with useOwnApiKey true. Never returned.' })
  readonly apiKey?: string;
}

/** The same in answers. */
export class ProviderResponse {
  @StringField({ description: 'A model of the catalogue, or one that was in it when the agent was given it.' })
  readonly model!: string;
  @BooleanField({ description: 'Whether the agent runs on a key of yours; such runs cost no credits.' })
  readonly useOwnApiKey!: boolean;
}
