import { MAX_USER_ID } from '../../conversations/index.js';
import { IntegerField, ObjectListField, StringField, TimestampField, UuidField } from '../../platform/http/index.js';

export class MemoriesQuery {
  @StringField({
    min: 1,
    max: MAX_USER_ID,
    description: 'The user as runs name them in `userContext.userId`, or as `endUser` of a session.',
  })
  readonly userId!: string;
}

export class MemoryResponse {
  @UuidField({ description: 'Id of the memory.' })
  readonly id!: string;
  @StringField({ description: 'What the agent noted.' })
  readonly text!: string;
  @TimestampField({ description: 'When it was first saved.' })
  readonly createdAt!: string;
  @TimestampField({ description: 'When it was last saved, saved again or corrected.' })
  readonly updatedAt!: string;
}

export class MemoryListResponse {
  @ObjectListField(() => MemoryResponse, { description: 'The most recently saved first; at most 500.' })
  readonly memories!: readonly MemoryResponse[];
}

export class ErasedMemoriesResponse {
  @IntegerField({ description: 'How many memories were erased.' })
  readonly deleted!: number;
}
