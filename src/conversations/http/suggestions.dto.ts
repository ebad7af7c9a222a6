import { EnumField, ObjectListField, StringField, StringListField, UuidField } from '../../platform/http/index.js';
import { MESSAGE_ROLES, type MessageRole } from '../domain/message.js';
import { MAX_CONTENT, MAX_ID, MAX_MESSAGES } from './content-limits.js';

export class SuggestionMessageBody {
  @EnumField(MESSAGE_ROLES, { description: 'The author: the person, or the agent.' })
  readonly role!: MessageRole;
  @StringField({ min: 1, max: MAX_CONTENT, description: 'What was said.' })
  readonly content!: string;
  @StringField({ min: 1, max: MAX_ID, optional: true, description: "The client's own id." })
  readonly id?: string;
}

export class SuggestionsBody {
  @UuidField({ description: 'The agent whose model is asked.' })
  readonly assistant_id!: string;
  @ObjectListField(() => SuggestionMessageBody, {
    max: MAX_MESSAGES,
    description: 'The conversation so far, oldest first; empty for suggestions to begin with. The newest 20 are read.',
  })
  readonly messages!: readonly SuggestionMessageBody[];
}

export class SuggestionsResponse {
  @StringListField({
    max: 3,
    description: 'Three short things that the user could say next; none when a hook blocks the newest user message.',
  })
  readonly suggestions!: readonly string[];
}
