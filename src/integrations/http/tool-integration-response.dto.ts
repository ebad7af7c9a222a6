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
import {
  environmentField,
  headerField,
  type Integration,
  type IntegrationAuth,
  isOrganizationWide,
  type StoredHeader,
  type TransportType,
  type WorkflowAuthType,
} from '../domain/integration.js';
import {
  type IntegrationOverview,
  type IntegrationStatus,
  type IntegrationWithState,
  MAX_SHOWN_DESCRIPTION,
  NOT_CONNECTED_YET,
  shownDescription,
} from '../domain/tool-list.js';
import { MAX_AGENT_TOOL_BYTES, MAX_AGENT_TOOLS } from '../limits.js';
import { MAX_DESCRIPTION, MAX_LIST_BYTES, MAX_TOOLS } from '../mcp/mcp-limits.js';
import { taggedSchema } from './http-headers.field.js';
import { AUTH_VARIANTS } from './tool-integration-request.dto.js';

const MIB = 1_048_576;

/** Documented as text, because it depends on the agent's other integrations, which a single response does not show. */
export const OFFERED_TOOLS =
  `An agent is offered at most ${MAX_AGENT_TOOLS} tools and ${MAX_AGENT_TOOL_BYTES / MIB} MiB of their definitions, of all its ` +
  'integrations together, excluded tools included. They are taken in the order in which they were added to the agent; one ' +
  'that does not fit is left out as a whole, although its status is connected and its tools are not excluded.';

interface VaultReference {
  readonly type: 'vault';
  readonly keyName: string;
}

const KEY_NAME = { type: 'string', description: 'The name under which it is stored.' };
const VAULT_REFERENCE = taggedSchema('vault', 'The value is in the vault.', { keyName: KEY_NAME }, ['keyName']);
const VALUE = { type: 'string', description: 'The value that is sent.' };
const PLAIN_HEADER = taggedSchema('plain_text', 'The value is no secret.', { value: VALUE }, ['value']);

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

class SharedResponse {
  @UuidField({ description: '`{integrationId}` in paths.' })
  readonly id!: string;
  @EnumField(['agent', 'organization'], { description: 'organization: shared by all agents that it was added to.' })
  readonly scope!: 'agent' | 'organization';
  @StringListField({ description: 'Sorted, each once.' })
  readonly excludedTools!: readonly string[];
  @EnumField(['connected', 'needs_authorization', 'error'], {
    description: `When its server was last asked. It is error too where the server's list has more than ${MAX_TOOLS} tools or ${MAX_LIST_BYTES / MIB} MiB.`,
  })
  readonly status!: IntegrationStatus;
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

export class ManagedMcpResponse extends SharedResponse {
  @LiteralField('managed-mcp', { description: "An app of the operator's catalogue." })
  readonly type!: 'managed-mcp';
  @StringField({ description: 'The slug of an app of the catalogue.' })
  readonly app!: string;
  @ObjectField(() => IntegrationSecretsResponse, { description: 'Which secrets are stored.' })
  readonly secrets!: IntegrationSecretsResponse;
}

export class WorkflowPlatformResponse extends SharedResponse {
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

export class CustomMcpResponse extends SharedResponse {
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
  readonly httpHeaders!: Readonly<Record<string, VaultReference | Exclude<StoredHeader, { readonly type: 'secret' }>>>;
}

export type ToolIntegrationResponse = ManagedMcpResponse | WorkflowPlatformResponse | CustomMcpResponse;

export const RESPONSE_VARIANTS: Variants = {
  'managed-mcp': () => ManagedMcpResponse,
  'workflow-platform': () => WorkflowPlatformResponse,
  'custom-mcp': () => CustomMcpResponse,
};

export class ToolIntegrationListResponse {
  @UnionListField('type', RESPONSE_VARIANTS, { description: 'In the order in which they were added to the agent.' })
  readonly integrations!: readonly ToolIntegrationResponse[];
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

export function toolIntegrationResponse({ integration, state }: IntegrationWithState): ToolIntegrationResponse {
  const { settings } = integration;
  const shared = sharedFields(integration, state);
  switch (settings.type) {
    case 'managed-mcp': {
      const { type, app, envNames } = settings;
      const entries = envNames.map((name) => [name, inVault(environmentField(name))] as const);
      return { ...shared, type, app, secrets: { envMap: Object.fromEntries(entries) } };
    }
    case 'workflow-platform':
      return { ...shared, type: settings.type, nameSlug: settings.nameSlug, authType: settings.authType };
    case 'custom-mcp': {
      const { type, app, url, transportType, auth, headers } = settings;
      const entries = Object.entries(headers).map(
        ([name, header]) => [name, header.type === 'secret' ? inVault(headerField(name)) : header] as const,
      );
      return { ...shared, type, app, url, transportType, auth, httpHeaders: Object.fromEntries(entries) };
    }
    default:
      return settings satisfies never;
  }
}

type SharedFields = Pick<SharedResponse, keyof SharedResponse>;

function sharedFields(integration: Integration, state: IntegrationOverview | null): SharedFields {
  const { id, settings, excludedTools, createdAt, updatedAt } = integration;
  return {
    id,
    scope: isOrganizationWide(settings) ? 'organization' : 'agent',
    excludedTools,
    ...stateFields(integration, state),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

/** A state of an older revision says nothing about the current server. */
function stateFields(
  { revision, excludedTools }: Integration,
  state: IntegrationOverview | null,
): Pick<SharedFields, 'status' | 'error' | 'tools'> {
  if (state?.revision !== revision) return { status: 'error', error: NOT_CONNECTED_YET, tools: [] };
  const excluded = new Set(excludedTools);
  const tools = state.tools.map(({ name, description }) => ({
    ...{ name, description: shownDescription(description) },
    excluded: excluded.has(name),
  }));
  return { status: state.status, error: state.error, tools };
}

function inVault(keyName: string): VaultReference {
  return { type: 'vault', keyName };
}
