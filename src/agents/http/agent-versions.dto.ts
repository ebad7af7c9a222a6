import {
  BooleanField,
  IntegerField,
  JsonField,
  LiteralField,
  ObjectListField,
  QueryIntegerField,
  StringField,
  TimestampField,
  UnionField,
  UuidField,
} from '../../platform/http/index.js';
import type { AgentVersion } from '../domain/agent-version.js';

const LARGEST_VERSION = 2_147_483_647;

export class VersionsQuery {
  @QueryIntegerField({
    ...{ min: 1, max: LARGEST_VERSION, optional: true },
    description: 'Only versions older than this one. Send the last version of the previous page.',
  })
  readonly before?: number;
  @QueryIntegerField({ min: 1, max: 100, optional: true, description: 'Default 100.' })
  readonly limit: number = 100;
}

export class ChangedByKeyResponse {
  @LiteralField('api_key', { description: 'An API key made the change.' })
  readonly type!: 'api_key';
  @UuidField({ description: 'The key that made the change; it may have been deleted since.' })
  readonly keyId!: string;
  @UuidField({ description: 'The member who issued the key.' })
  readonly memberId!: string;
}

export class ChangedByOperatorResponse {
  @LiteralField('operator', { description: 'The operator of the service made the change, on the command line.' })
  readonly type!: 'operator';
}

export class FieldChangeResponse {
  @StringField({
    description:
      'A field of the agent as responses name it; `sections` or `sections.{name}`; `disableInteractivePrompts`, which the ' +
      'operator sets; or a secret: `provider.apiKey`, `aiGateway.edgeApiToken`.',
  })
  readonly field!: string;
  @JsonField({ description: 'The value before; `<redacted>` for a secret.' })
  readonly before!: unknown;
  @JsonField({ description: 'The value after; `<redacted>` for a secret.' })
  readonly after!: unknown;
}

export class AgentVersionResponse {
  @IntegerField({ description: "The agent's `version` after this change." })
  readonly version!: number;
  @TimestampField({ description: 'When the change was made.' })
  readonly createdAt!: string;
  @UnionField(
    'type',
    { api_key: () => ChangedByKeyResponse, operator: () => ChangedByOperatorResponse },
    { description: 'Who made the change.' },
  )
  readonly changedBy!: ChangedByKeyResponse | ChangedByOperatorResponse;
  @ObjectListField(() => FieldChangeResponse, { description: 'Empty for version 1, the creation.' })
  readonly changes!: FieldChangeResponse[];
}

export class AgentVersionListResponse {
  @ObjectListField(() => AgentVersionResponse, { description: 'Newest first.' })
  readonly versions!: AgentVersionResponse[];
}

export function versionView({ version, createdAt, changedBy, changes }: AgentVersion): AgentVersionResponse {
  return { version, createdAt: createdAt.toISOString(), changedBy, changes: [...changes] };
}

export class ProviderKeyBody {
  @StringField({ min: 1, max: 500, description: 'Never returned.' })
  readonly apiKey!: string;
}

export class ProviderKeyResponse {
  @BooleanField({ description: 'Always true: the agent runs on a key of yours.' })
  readonly useOwnApiKey!: true;
  @TimestampField({ description: 'When the agent last changed.' })
  readonly updatedAt!: string;
}
