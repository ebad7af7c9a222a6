import {
  BooleanField,
  EnumField,
  field,
  IntegerField,
  LiteralField,
  ObjectField,
  ObjectListField,
  StringField,
  StringListField,
  TimestampField,
  UnionField,
  UnionListField,
  UuidField,
  type Variants,
} from '../../platform/http/index.js';
import type { IntegrationAuth, TransportType, WorkflowAuthType } from '../domain/integration.js';
import { MAX_SHOWN_DESCRIPTION } from '../domain/tool-list.js';
import { MAX_AGENT_TOOL_BYTES, MAX_AGENT_TOOLS } from '../limits.js';
import { MAX_DESCRIPTION, MAX_LIST_BYTES, MAX_TOOLS } from '../mcp/mcp-limits.js';
import { AUTH_VARIANTS } from './tool-integration-request.dto.js';
import type { ToolIntegrationView, VaultReference } from './tool-integration-view.js';

/* The OpenAPI schemas of `tool-integration-view.ts`. */

const MIB = 1_048_576;

/** A rule that no single integration's response can show, since it depends on the agent's other integrations. */
export const OFFERED_TOOLS =
  `An agent is offered at most ${MAX_AGENT_TOOLS} tools and ${MAX_AGENT_TOOL_BYTES / MIB} MiB of their definitions, of all its ` +
  'integrations together, excluded tools included. They are taken in the order in which they were added to the agent; one ' +
  'that does not fit is left out as a whole, although its status is connected and its tools are not excluded.';

const VAULT_REFERENCE = {
  type: 'object',
  required: ['type', 'keyName'],
  properties: {
    type: { type: 'string', enum: ['vault'], description: 'The value is in the vault.' },
    keyName: { type: 'string', description: 'The name under which it is stored.' },
  },
};
const PLAIN_HEADER = {
  type: 'object',
  required: ['type', 'value'],
  properties: {
    type: { type: 'string', enum: ['plain_text'], description: 'The value is no secret.' },
    value: { type: 'string', description: 'The value that is sent.' },
  },
};

export class IntegrationToolResponse {
  @StringField({ description: "The server's own name." })
  readonly name!: string;
  @StringField({
    description: `Its first ${MAX_SHOWN_DESCRIPTION} characters, with … in place of the last where there are more. The model reads up to ${MAX_DESCRIPTION}.`,
  })
  readonly description!: string;
  @BooleanField({
    description:
      'The agent is not offered it: excludedTools names it. See tools for the others that it is not offered.',
  })
  readonly excluded!: boolean;
}

class ToolIntegrationResponse {
  @UuidField({ description: '`{integrationId}` in paths.' })
  readonly id!: string;
  @EnumField(['agent', 'organization'], { description: 'organization: shared by all agents that it was added to.' })
  readonly scope!: 'agent' | 'organization';
  @StringListField({ description: 'Sorted, each once.' })
  readonly excludedTools!: readonly string[];
  @EnumField(['connected', 'needs_authorization', 'error'], {
    description: `When its server was last asked. It is error too where the server's list has more than ${MAX_TOOLS} tools or ${MAX_LIST_BYTES / MIB} MiB.`,
  })
  readonly status!: ToolIntegrationView['status'];
  @StringField({
    nullable: true,
    description:
      'The problem, for people. While connected it is null, or says that a model provider refused the schema of a tool.',
  })
  readonly error!: string | null;
  @ObjectListField(() => IntegrationToolResponse, {
    description: `From the last successful listing, without tools whose name or schema no model accepts. ${OFFERED_TOOLS}`,
  })
  readonly tools!: readonly IntegrationToolResponse[];
  @TimestampField({ description: 'When it was created.' })
  readonly createdAt!: string;
  @TimestampField({ description: 'When it was last changed; adding it to another agent changes nothing.' })
  readonly updatedAt!: string;
}

export class IntegrationSecretsResponse {
  @field(
    { description: 'Where the values are, by the names of the environment variables; the values are never returned.' },
    { type: 'object', additionalProperties: VAULT_REFERENCE },
  )
  readonly envMap!: Readonly<Record<string, VaultReference>>;
}

export class ManagedMcpResponse extends ToolIntegrationResponse {
  @LiteralField('managed-mcp', { description: "An app of the operator's catalogue." })
  readonly type!: 'managed-mcp';
  @StringField({ description: 'The slug of an app of the catalogue.' })
  readonly app!: string;
  @ObjectField(() => IntegrationSecretsResponse, { description: 'Which secrets are stored.' })
  readonly secrets!: IntegrationSecretsResponse;
}

export class WorkflowPlatformResponse extends ToolIntegrationResponse {
  @LiteralField('workflow-platform', { description: 'An app of the workflow platform.' })
  readonly type!: 'workflow-platform';
  @StringField({ description: "The platform's name of the app." })
  readonly nameSlug!: string;
  @EnumField(['keys', 'oauth', 'none'], {
    nullable: true,
    description: 'How the platform signs in to the app; null where it is not known.',
  })
  readonly authType!: WorkflowAuthType | null;
}

export class CustomMcpResponse extends ToolIntegrationResponse {
  @LiteralField('custom-mcp', { description: 'An MCP server of your own.' })
  readonly type!: 'custom-mcp';
  @StringField({ description: 'The label that it is known by.' })
  readonly app!: string;
  @StringField({ description: 'Where the server is.' })
  readonly url!: string;
  @EnumField(['sse', 'streamableHttp'], { description: 'How the server is talked to.' })
  readonly transportType!: TransportType;
  @UnionField('type', AUTH_VARIANTS, { description: 'How the service signs in to the server.' })
  readonly auth!: IntegrationAuth;
  @field(
    { description: 'Headers by their names; of a secret one, where its value is, which is never returned.' },
    { type: 'object', additionalProperties: { oneOf: [PLAIN_HEADER, VAULT_REFERENCE] } },
  )
  readonly httpHeaders!: Readonly<Record<string, object>>;
}

export const RESPONSE_VARIANTS: Variants = {
  'managed-mcp': () => ManagedMcpResponse,
  'workflow-platform': () => WorkflowPlatformResponse,
  'custom-mcp': () => CustomMcpResponse,
};

export class ToolIntegrationListResponse {
  @UnionListField('type', RESPONSE_VARIANTS, { description: 'In the order in which they were added to the agent.' })
  readonly integrations!: readonly ToolIntegrationView[];
}

export class ToolIntegrationTestResponse {
  @BooleanField({
    description: `Whether the server answered with its tools: at most ${MAX_TOOLS}, in ${MAX_LIST_BYTES / MIB} MiB.`,
  })
  readonly ok!: boolean;
  @IntegerField({ min: 0, description: 'The duration in milliseconds.' })
  readonly latencyMs!: number;
  @IntegerField({ min: 0, description: 'How many tools the server has that models can be given; 0 when not ok.' })
  readonly tools!: number;
  @StringField({ nullable: true, description: 'What went wrong, for people; null when ok.' })
  readonly error!: string | null;
}
