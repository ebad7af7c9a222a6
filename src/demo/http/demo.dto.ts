import { BooleanField, EnumField, StringField, UuidField } from '../../platform/http/index.js';

export class DemoSessionBody {
  @StringField({ optional: true, max: 1_000 })
  readonly resumeToken?: string;
  @UuidField({ optional: true })
  readonly threadId?: string;
  /** The demo continues no conversation by itself, so this changes nothing. */
  @BooleanField({ optional: true })
  readonly newConversation?: boolean;
}

export class DemoReactionBody {
  @UuidField()
  readonly sessionId!: string;
  @UuidField()
  readonly threadId!: string;
  @UuidField()
  readonly messageId!: string;
  @EnumField(['thumbs_up', 'thumbs_down'], { nullable: true })
  readonly reaction!: 'thumbs_up' | 'thumbs_down' | null;
  @StringField({ optional: true, max: 10_000 })
  readonly comment?: string;
}
