import { defaultModel, modelsOf } from '../../models/index.js';
import type { ModelChoices } from '../domain/provider-settings.js';

/** The catalogue as agents are checked against it. */
export const CATALOGUE_CHOICES: ModelChoices = {
  of: modelsOf,
  defaultOf: (type) => defaultModel(type).id,
};
