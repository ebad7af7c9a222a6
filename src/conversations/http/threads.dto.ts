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
import { type Channel, CHANNELS } from '../domain/thread.js';

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
  @UuidField({ description: 'Named by `threadId` and `thread_id` everywhere else.' })
  readonly id!: string;
  @UuidField({ description: 'The agent that the conversation is with.' })
  readonly assistant_id!: string;
  @StringField({
    nullable: true,
    description: 'The beginning of the first message, for lists; null before there is one.',
  })
  readonly title!: string | null;
  @EnumField(CHANNELS, { description: '`widget` for conversations that a web session opened.' })
  readonly channel!: Channel;
  @StringMapField({ description: 'Your own notes, as they were given at creation; `{}` where none were.' })
  readonly metadata!: Readonly<Record<string, string>>;
  @TimestampField({ description: 'When the thread was made.' })
  readonly createdAt!: string;
  @TimestampField({ description: 'When the thread or something in it last changed.' })
  readonly updatedAt!: string;
  @TimestampField({ nullable: true, description: 'When its newest message was stored; null before there is one.' })
  readonly lastMessageAt!: string | null;
}

export class ThreadListResponse {
  @ObjectListField(() => ThreadResponse, { description: 'The one with the newest activity first.' })
  readonly threads!: readonly ThreadResponse[];
  @StringField({ nullable: true, description: 'Opaque; null at the end.' })
  readonly nextCursor!: string | null;
}

export class ListThreadsParameters {
  @QueryUuidField({ optional: true, description: 'Only threads of this agent.' })
  readonly assistant_id?: string;
  @QueryStringField({ optional: true, description: 'The `nextCursor` of the page before.' })
  readonly cursor?: string;
  @QueryIntegerField({ optional: true, min: 1, max: MAX_PAGE, description: '100 by default.' })
  readonly limit?: number;
}

export class DeletedResponse {
  @UuidField({ description: 'The thread that was deleted, with its messages, runs and traces.' })
  readonly id!: string;
  @BooleanField({ description: 'Always true.' })
  readonly deleted!: true;
}

export class ReactionBody {
  @EnumField(REACTION_NAMES, {
    nullable: true,
    description: 'The user’s reaction to the reply; null removes it.',
  })
  readonly reaction!: ReactionName | null;
  @StringField({
    optional: true,
    max: MAX_COMMENT,
    description: 'The user’s comment, which the message and its trace have.',
  })
  readonly comment?: string;
}
