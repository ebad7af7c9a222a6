import {
  BooleanField,
  EnumField,
  ObjectListField,
  QueryIntegerField,
  QueryStringField,
  QueryUuidField,
  StringField,
  StringMapField,
  TimestampField,
  UuidField,
} from '../../platform/http/index.js';
import { REACTION_NAMES, type ReactionName } from '../domain/message.js';
import type { Channel } from '../domain/thread.js';

const CHANNELS = ['api', 'widget'] as const satisfies readonly Channel[];
const MAX_METADATA_ENTRIES = 16;
const MAX_PAGE = 100;
const MAX_COMMENT = 10_000;

export class CreateThreadBody {
  @UuidField({ description: 'The agent to talk to.' })
  readonly assistant_id!: string;

  @StringMapField({
    maxEntries: MAX_METADATA_ENTRIES,
    optional: true,
    description: 'Your own notes on the thread: at most 16 strings by name.',
  })
  readonly metadata?: Readonly<Record<string, string>>;
}

export class ThreadResponse {
  @UuidField()
  readonly id!: string;
  @UuidField()
  readonly assistant_id!: string;
  @StringField({ nullable: true })
  readonly title!: string | null;
  @EnumField(CHANNELS)
  readonly channel!: Channel;
  @StringMapField()
  readonly metadata!: Readonly<Record<string, string>>;
  @TimestampField()
  readonly createdAt!: string;
  @TimestampField()
  readonly updatedAt!: string;
  @TimestampField({ nullable: true })
  readonly lastMessageAt!: string | null;
}


export class ThreadListResponse {
  @ObjectListField(() => ThreadResponse)
  readonly threads!: readonly ThreadResponse[];
  @StringField({ nullable: true, description: 'Opaque; null at the end.' })
  readonly nextCursor!: string | null;
}

export class ListThreadsParameters {
  @QueryUuidField({ optional: true, description: 'Only threads of this agent.' })
  readonly assistant_id?: string;
  @QueryStringField({ optional: true, description: 'The `nextCursor` of the page before.' })
  readonly cursor?: string;
  @QueryIntegerField({ optional: true, min: 1, max: MAX_PAGE, description: '100 unless said otherwise.' })
  readonly limit?: number;
}

export class DeletedResponse {
  @UuidField()
  readonly id!: string;
  @BooleanField()
  readonly deleted!: true;
}

export class ReactionBody {
  @EnumField(REACTION_NAMES, { nullable: true })
  readonly reaction!: ReactionName | null;
  @StringField({ optional: true, max: MAX_COMMENT })
  readonly comment?: string;
}
