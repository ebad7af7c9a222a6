import { defaultModel, providerOf } from '../../models/index.js';
import type { ModelChoices } from '../domain/provider-settings.js';

/** The model catalogue as the domain sees it. */
export const CATALOGUE_CHOICES: ModelChoices = {
  of: (type) => providerOf(type).models,
  defaultOf: (type) => defaultModel(type).id,
};
