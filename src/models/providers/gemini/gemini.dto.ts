import { LiteralField } from '../../../platform/http/index.js';
import { ChangedModelField, KeyedProviderBody, NewModelField, ProviderResponse } from '../shared/provider.dto.js';
import { GEMINI_MODELS } from './gemini.catalogue.js';

class GeminiProviderBody extends KeyedProviderBody {
  @LiteralField('gemini', { description: 'The Gemini API.' })
  readonly type!: 'gemini';
  @NewModelField(GEMINI_MODELS)
  readonly model?: string;
}

class GeminiProviderChangeBody {
  @LiteralField('gemini', { description: 'Must be the type that the agent has.' })
  readonly type!: 'gemini';
  @ChangedModelField(GEMINI_MODELS)
  readonly model?: string;
}

class GeminiProviderResponse extends ProviderResponse {
  @LiteralField('gemini', { description: 'The Gemini API.' })
  readonly type!: 'gemini';
}

export const GEMINI_BODIES = {
  create: GeminiProviderBody,
  change: GeminiProviderChangeBody,
  response: GeminiProviderResponse,
};
