import { applyDecorators } from '@nestjs/common';
import {
  EnumField,
  LiteralField,
  ObjectField,
  rule,
  StringField,
  StringListField,
  StringMapField,
  UnionField,
  UrlField,
  type Variants,
} from '../../platform/http/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { authFault, headerNamed } from '../domain/http-header.js';
import {
  environmentField,
  headerField,
  type IntegrationAuth,
  type IntegrationSettings,
  type StoredHeader,
  type TransportType,
  type WorkflowAuthType,
} from '../domain/integration.js';
import type { IntegrationRequest, KeptHeader } from '../domain/integration-request.js';
import { HttpHeadersField, type SentHeaderBody, type VaultHeaderBody } from './http-headers.field.js';

const APP_LENGTH = { min: 1, max: 255 } as const;
const MAX_EXCLUDED_TOOLS = 1_000;
const TOOL_NAME_LENGTH = { min: 1, max: 128 } as const;
const MAX_ENVIRONMENT_VALUE = 8_192;
const MAX_ENVIRONMENT = 100;
const TRANSPORT_TYPES = ['sse', 'streamableHttp'] as const satisfies readonly TransportType[];
const WORKFLOW_AUTH_TYPES = ['keys', 'oauth', 'none'] as const satisfies readonly WorkflowAuthType[];
const IDENTITY = 'What the integration is known by; it cannot be changed.';

function ServerUrlField(): PropertyDecorator {
  const hasNone = (value: unknown): boolean => {
    const url = typeof value === 'string' ? URL.parse(value) : null;
    return url === null || (url.username === '' && url.password === '');
  };
  return applyDecorators(
    UrlField({
      description: 'Of the MCP server. It must not lead to a private address, which is seen when connecting.',
    }),
    rule('hasNoUserInfo', hasNone, { message: 'must not contain a user name or password' }),
  );
}

class IntegrationBody {
  @StringListField({
    max: MAX_EXCLUDED_TOOLS,
    each: TOOL_NAME_LENGTH,
    optional: true,
    description: "The server's own names of tools that the agent is not offered; none when omitted.",
  })
  readonly excludedTools?: readonly string[];
}

export class IntegrationSecretsBody {
  @StringMapField({
    maxEntries: MAX_ENVIRONMENT,
    maxValueLength: MAX_ENVIRONMENT_VALUE,
    description:
      `Values of 1 to ${MAX_ENVIRONMENT_VALUE} characters by the names of environment variables that the app declares. ` +
      'Kept in the vault, and never returned.',
  })
  @rule('hasNoEmptyValue', (map) => emptyIn(map) === undefined, {
    message: ({ value }) => `/${emptyIn(value) ?? ''} must have at least 1 character`,
  })
  readonly envMap!: Readonly<Record<string, string>>;
}

/** The name of an entry without a value. */
function emptyIn(map: unknown): string | undefined {
  return typeof map === 'object' && map !== null
    ? Object.entries(map).find(([, value]) => value === '')?.[0]
    : undefined;
}

export class ManagedMcpBody extends IntegrationBody {
  @LiteralField('managed-mcp', { description: "An app of the operator's catalogue." })
  readonly type!: 'managed-mcp';
  @StringField({ ...APP_LENGTH, description: `The slug of an app of the catalogue. ${IDENTITY}` })
  readonly app!: string;
  @ObjectField(() => IntegrationSecretsBody, {
    optional: true,
    description:
      'Refused for remote apps that are signed in to with OAuth. On update, those that are stored stay when omitted.',
  })
  readonly secrets?: IntegrationSecretsBody;
}

export class WorkflowPlatformBody extends IntegrationBody {
  @LiteralField('workflow-platform', {
    description: 'An app of the workflow platform that the operator has connected.',
  })
  readonly type!: 'workflow-platform';
  @StringField({ pattern: /^[A-Za-z0-9_-]{1,100}$/, description: IDENTITY })
  readonly nameSlug!: string;
  @EnumField(WORKFLOW_AUTH_TYPES, {
    nullable: true,
    description:
      'How the platform signs in to the app: with keys, with OAuth or not at all; null where it is not known.',
  })
  readonly authType!: WorkflowAuthType | null;
}

export class OAuthBody {
  @LiteralField('oauth', { description: 'A person signs in; `POST .../authorize` says where.' })
  readonly type!: 'oauth';
}

export class NoAuthBody {
  @LiteralField('none', { description: 'The server asks for no credential.' })
  readonly type!: 'none';
}

export class StaticAuthBody {
  @LiteralField('static', { description: 'A header authenticates.' })
  readonly type!: 'static';
  @StringField({ min: 1, max: 255, description: 'The entry of httpHeaders that authenticates; it must be there.' })
  readonly headerKey!: string;
}

/** Also as it is read. */
export const AUTH_VARIANTS: Variants = { oauth: () => OAuthBody, none: () => NoAuthBody, static: () => StaticAuthBody };

class CustomMcpSettingsBody extends IntegrationBody {
  @LiteralField('custom-mcp', { description: 'An MCP server of your own.' })
  readonly type!: 'custom-mcp';
  @StringField({ ...APP_LENGTH, description: `A label. ${IDENTITY}` })
  readonly app!: string;
  @ServerUrlField()
  readonly url!: string;
  @EnumField(TRANSPORT_TYPES, {
    description: 'How the server is talked to; `sse` is the older of the two transports of MCP.',
  })
  readonly transportType!: TransportType;
  @UnionField('type', AUTH_VARIANTS, { description: 'How the service signs in to the server.' })
  readonly auth!: IntegrationAuth;
}

const HEADERS =
  'Sent with every request to the server. Names do not differ by case. Those that belong to the connection (such as Host, ' +
  'Accept-Encoding, Proxy-*) or to the protocol (such as Content-Type, Accept, Mcp-Session-Id) are refused.';

export class CreateCustomMcpBody extends CustomMcpSettingsBody {
  @HttpHeadersField(['plain_text', 'secret'], { optional: true, description: HEADERS })
  readonly httpHeaders?: Readonly<Record<string, SentHeaderBody>>;
}

export class UpdateCustomMcpBody extends CustomMcpSettingsBody {
  @HttpHeadersField(['plain_text', 'secret', 'vault'], {
    optional: true,
    description: `${HEADERS} With the type vault a header keeps its stored value, as long as the origin of the url is the same.`,
  })
  readonly httpHeaders?: Readonly<Record<string, SentHeaderBody | VaultHeaderBody>>;
}

export type CreateToolIntegrationBody = ManagedMcpBody | WorkflowPlatformBody | CreateCustomMcpBody;
export type UpdateToolIntegrationBody = ManagedMcpBody | WorkflowPlatformBody | UpdateCustomMcpBody;

const SHARED: Variants = { 'managed-mcp': () => ManagedMcpBody, 'workflow-platform': () => WorkflowPlatformBody };

export const CREATE_VARIANTS: Variants = { ...SHARED, 'custom-mcp': () => CreateCustomMcpBody };
export const UPDATE_VARIANTS: Variants = { ...SHARED, 'custom-mcp': () => UpdateCustomMcpBody };

type Parts = Omit<IntegrationRequest, 'excludedTools'>;

const NO_SECRETS = { newSecrets: new Map<string, string>(), keptHeaders: [], keepsEnvironment: false };

/** @throws ValidationFailed if two fields contradict each other */
export function toIntegrationRequest(body: UpdateToolIntegrationBody): IntegrationRequest {
  const excludedTools = [...new Set(body.excludedTools ?? [])].sort();
  switch (body.type) {
    case 'managed-mcp':
      return { ...managed(body), excludedTools };
    case 'workflow-platform': {
      const { type, nameSlug, authType } = body;
      return { ...NO_SECRETS, settings: { type, nameSlug, authType }, excludedTools };
    }
    case 'custom-mcp':
      return { ...custom(body), excludedTools };
    default:
      return body satisfies never;
  }
}

function managed({ app, secrets }: ManagedMcpBody): Parts {
  const variables = Object.entries(secrets?.envMap ?? {});
  return {
    ...NO_SECRETS,
    settings: { type: 'managed-mcp', app, envNames: variables.map(([name]) => name).sort() },
    newSecrets: new Map(variables.map(([name, value]) => [environmentField(name), value])),
    keepsEnvironment: secrets === undefined,
  };
}

function custom({ app, url, transportType, auth, httpHeaders = {} }: UpdateCustomMcpBody): Parts {
  const names = Object.keys(httpHeaders);
  const fault = authFault(auth, names);
  if (fault !== undefined) throw new ValidationFailed(`body/${fault}`);
  const headers: [string, StoredHeader][] = [];
  const newSecrets = new Map<string, string>();
  const keptHeaders: KeptHeader[] = [];
  for (const [name, header] of Object.entries(httpHeaders)) {
    const isPlain = header.type === 'plain_text';
    headers.push([name, isPlain ? { type: 'plain_text', value: header.value } : { type: 'secret' }]);
    if (header.type === 'secret') newSecrets.set(headerField(name), header.value);
    if (header.type === 'vault') keptHeaders.push({ name, keyName: header.keyName });
  }
  const settings: IntegrationSettings = {
    ...{ type: 'custom-mcp', app, url, transportType },
    auth: authOf(auth, names),
    headers: Object.fromEntries(headers),
  };
  return { settings, newSecrets, keptHeaders, keepsEnvironment: false };
}

/** Plain data, with the header's name spelled as in httpHeaders. */
function authOf(auth: IntegrationAuth, names: readonly string[]): IntegrationAuth {
  if (auth.type !== 'static') return { type: auth.type };
  return { type: 'static', headerKey: headerNamed(auth.headerKey, names) ?? auth.headerKey };
}
