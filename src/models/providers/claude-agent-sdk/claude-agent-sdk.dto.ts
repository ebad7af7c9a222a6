import { BooleanField, LiteralField, StringField } from '../../../platform/http/index.js';
import { KeyedProviderBody, MAX_MODEL, OWN_KEY } from '../shared/provider.dto.js';

const MODEL = { optional: true, max: MAX_MODEL, description: 'This installation runs no model for agents of this type.' } as const;

export class ClaudeAgentProviderBody extends KeyedProviderBody {
  @LiteralField('claude-agent-sdk', {
    description: 'The Claude agent runtime, which runs models of several families; needs the feature `claude_agent_sdk`.',
  })
  readonly type!: 'claude-agent-sdk';
  @StringField(MODEL)
  readonly model?: string;
}

export class ClaudeAgentProviderChangeBody {
  @LiteralField('claude-agent-sdk', { description: 'Must be the type that the agent has.' })
  readonly type!: 'claude-agent-sdk';
  @StringField(MODEL)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'Only true.' })
  readonly useOwnApiKey?: boolean;
  @StringField({
    ...OWN_KEY,
    description: "A key of the model's family, which replaces the stored one; only with `useOwnApiKey` true. Never returned.",
  })
  readonly apiKey?: string;
}
