import { BooleanField, LiteralField, StringField } from '../../../platform/http/index.js';
import { KeyedProviderBody, MAX_MODEL, OWN_KEY } from '../shared/provider.dto.js';

const MODEL = { optional: true, max: MAX_MODEL, description: 'This installation runs no model for agents of this type.' } as const;

export class ClaudeAgentProviderBody extends KeyedProviderBody {
  @LiteralField('claude-agent-sdk')
  readonly type!: 'claude-agent-sdk';
  @StringField(MODEL)
  readonly model?: string;
}

export class ClaudeAgentProviderChangeBody {
  @LiteralField('claude-agent-sdk')
  readonly type!: 'claude-agent-sdk';
  @StringField(MODEL)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'Only true.' })
  readonly useOwnApiKey?: boolean;
  @StringField(OWN_KEY)
  readonly apiKey?: string;
}
