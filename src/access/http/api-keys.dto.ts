import {
  EnumListField,
  ObjectListField,
  StringField,
  TimestampField,
  UuidField,
  UuidListField,
} from '../../platform/http/index.js';
import { CAPABILITIES, type Capability } from '../domain/capability.js';

const MAX_ALLOWED_AGENTS = 10_000;
const ALLOWLIST = 'The only agents that the key may use; null means every agent of the organization.';

export class CreateApiKeyBody {
  @StringField({ min: 1, max: 255, description: 'For people, to tell keys apart in the list. It need not be unique.' })
  readonly name!: string;

  @EnumListField(CAPABILITIES, {
    description: 'What the key may do. Only capabilities of the calling key are allowed.',
  })
  readonly capabilities!: Capability[];

  @UuidListField({
    min: 1,
    max: MAX_ALLOWED_AGENTS,
    optional: true,
    description: 'The only agents that the key may use; absent means every agent.',
  })
  readonly agentIds?: string[];

  @TimestampField({ optional: true, description: 'When the key stops working, in the future; absent means never.' })
  readonly expiresAt?: string;
}

class ApiKeyFields {
  @UuidField({
    description: 'Identifies the key in `DELETE /v1/api-keys/{id}` and in the history of agents. It is not a secret.',
  })
  readonly id!: string;
  @StringField({ description: 'The name that was sent at creation.' })
  readonly name!: string;
  @StringField({ description: 'The last four characters of the key, to tell keys apart.' })
  readonly last4!: string;
  @EnumListField(CAPABILITIES, {
    description: 'What the key may do. Reads that need no capability are open to every key.',
  })
  readonly capabilities!: Capability[];
  @UuidListField({ nullable: true, description: ALLOWLIST })
  readonly agentIds!: string[] | null;
  @TimestampField({ description: 'When the key was issued.' })
  readonly createdAt!: string;
  @TimestampField({ nullable: true, description: 'When the key stops working; null means never.' })
  readonly expiresAt!: string | null;
}

export class CreatedApiKeyResponse extends ApiKeyFields {
  @StringField({ description: 'The key itself. It is not stored, and shown only in this response.' })
  readonly key!: string;
}

export class ApiKeyResponse extends ApiKeyFields {
  @TimestampField({ nullable: true, description: 'To the minute; null for a key that was never used.' })
  readonly lastUsedAt!: string | null;
}

export class ApiKeyListResponse {
  @ObjectListField(() => ApiKeyResponse, {
    description: 'Every key of the organization that is not deleted, expired ones included.',
  })
  readonly apiKeys!: ApiKeyResponse[];
}
