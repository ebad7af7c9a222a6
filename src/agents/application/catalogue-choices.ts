import { defaultModel, modelsOf } from '../../models/index.js';
import type { ModelChoices } from '../domain/provider-settings.js';

/** The model catalogue as the domain sees it. */
export const CATALOGUE_CHOICES: ModelChoices = {
  of: modelsOf,
  defaultOf: (type) => defaultModel(type).id,
};
