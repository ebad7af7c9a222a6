import { LiteralField, StringField } from '../../../platform/http/index.js';
import { CHANGED_MODEL, KeyedProviderBody, ProviderResponse } from '../shared/provider.dto.js';

export class GeminiProviderBody extends KeyedProviderBody {
  @LiteralField('gemini')
  readonly type!: 'gemini';
}

export class GeminiProviderChangeBody {
  @LiteralField('gemini')
  readonly type!: 'gemini';
  @StringField(CHANGED_MODEL)
  readonly model?: string;
}

export class GeminiProviderResponse extends ProviderResponse {
  @LiteralField('gemini')
  readonly type!: 'gemini';
}
