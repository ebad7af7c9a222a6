import { BooleanField, LiteralField, StringField } from '../../../platform/http/index.js';
import {
  ChangedModelField,
  KeyedProviderBody,
  NewModelField,
  OWN_KEY,
  ProviderResponse,
} from '../shared/provider.dto.js';
import { claudeAgentSdk } from './claude-agent-sdk.provider.js';

const WHAT =
  'The Claude Agent SDK, which runs models of several families. Needs the feature `claude_agent_sdk`; runs also need the optional package.';

class ClaudeAgentProviderBody extends KeyedProviderBody {
  @LiteralField('claude-agent-sdk', { description: WHAT })
  readonly type!: 'claude-agent-sdk';
  @NewModelField(claudeAgentSdk.models)
  readonly model?: string;
}

class ClaudeAgentProviderChangeBody {
  @LiteralField('claude-agent-sdk', { description: 'Must be the type that the agent has.' })
  readonly type!: 'claude-agent-sdk';
  @ChangedModelField(claudeAgentSdk.models)
  readonly model?: string;
  @BooleanField({ optional: true, description: 'Only true: later runs of the agent use your key.' })
  readonly useOwnApiKey?: boolean;
  @StringField({
    ...OWN_KEY,
    description:
      "A key of the model's family, which replaces the stored one; only with `useOwnApiKey` true. Never returned.",
  })
  readonly apiKey?: string;
}

class ClaudeAgentProviderResponse extends ProviderResponse {
  @LiteralField('claude-agent-sdk', { description: WHAT })
  readonly type!: 'claude-agent-sdk';
}

export const CLAUDE_AGENT_BODIES = {
  create: ClaudeAgentProviderBody,
  change: ClaudeAgentProviderChangeBody,
  response: ClaudeAgentProviderResponse,
};
