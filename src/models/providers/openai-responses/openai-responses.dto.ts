import { EnumField, LiteralField, ObjectField } from '../../../platform/http/index.js';
import { ChangedModelField, KeyedProviderBody, NewModelField, OPTIONAL, ProviderResponse } from '../shared/provider.dto.js';
import { OPENAI_MODELS } from './openai-responses.catalogue.js';
import { REASONING_EFFORTS, type ReasoningEffort, type TextVerbosity, VERBOSITIES } from './openai-responses.settings.js';

export class ReasoningBody {
  @EnumField(REASONING_EFFORTS, { optional: true, nullable: true })
  readonly effort?: ReasoningEffort | null;
}

export class TextBody {
  @EnumField(VERBOSITIES, { optional: true, nullable: true })
  readonly verbosity?: TextVerbosity | null;
}

export class OpenAiProviderBody extends KeyedProviderBody {
  @LiteralField('openai-responses')
  readonly type!: 'openai-responses';
  @NewModelField(OPENAI_MODELS)
  readonly model?: string;
  @ObjectField(() => ReasoningBody, OPTIONAL)
  readonly reasoning?: ReasoningBody;
  @ObjectField(() => TextBody, OPTIONAL)
  readonly text?: TextBody;
}

export class OpenAiProviderChangeBody {
  @LiteralField('openai-responses')
  readonly type!: 'openai-responses';
  @ChangedModelField(OPENAI_MODELS)
  readonly model?: string;
  @ObjectField(() => ReasoningBody, OPTIONAL)
  readonly reasoning?: ReasoningBody;
  @ObjectField(() => TextBody, OPTIONAL)
  readonly text?: TextBody;
}

export class OpenAiProviderResponse extends ProviderResponse {
  @LiteralField('openai-responses')
  readonly type!: 'openai-responses';
  @ObjectField(() => ReasoningBody)
  readonly reasoning!: ReasoningBody;
  @ObjectField(() => TextBody)
  readonly text!: TextBody;
}
