import { BooleanField, LiteralField, StringField } from '../../../platform/http/index.js';
import { CHANGED_MODEL, KeyedProviderBody, OWN_KEY } from '../shared/provider.dto.js';

export class ClaudeAgentProviderBody extends KeyedProviderBody {
  @LiteralField('claude-agent-sdk')
  readonly type!: 'claude-agent-sdk';
}

export class ClaudeAgentProviderChangeBody {
  @LiteralField('claude-agent-sdk')
  readonly type!: 'claude-agent-sdk';
  @StringField(CHANGED_MODEL)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'Only true.' })
  readonly useOwnApiKey?: boolean;
  @StringField(OWN_KEY)
  readonly apiKey?: string;
}
