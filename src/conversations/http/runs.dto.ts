import { ValidationFailed } from '../../platform/errors/index.js';
import {
  EnumField,
  IntegerField,
  ObjectField,
  ObjectListField,
  QueryBooleanField,
  QueryIntegerField,
  StringField,
  UuidField,
} from '../../platform/http/index.js';
import { ATTACHMENTS_DESCRIPTION, AttachmentBody, MOST_ATTACHMENTS } from './attachments.dto.js';
import { UserContextField } from './user-context.field.js';
import type { UserContext } from '../ports/index.js';

const ROLES = ['user'] as const;
const ON_DISCONNECT = ['continue', 'cancel'] as const;

export class RunMessageBody {
  @EnumField(ROLES)
  readonly role!: 'user';
  @StringField({ min: 1, description: 'What the user says.' })
  readonly content!: string;
  @StringField({ min: 1, optional: true, description: "The client's own id; the stored message gets one of the service." })
  readonly id?: string;
  @ObjectListField(() => AttachmentBody, { optional: true, max: MOST_ATTACHMENTS, description: ATTACHMENTS_DESCRIPTION })
  readonly attachments?: readonly AttachmentBody[];
}

export class RunConfigBody {
  @UserContextField({
    optional: true,
    description: 'Strings, numbers and booleans by name: scopes tool calls and retrievals, echoed into the trace.',
  })
  readonly userContext?: UserContext;
}

export class RunWidgetBody {
  @StringField({ min: 1, max: 64, description: 'Version of the widget SDK.' })
  readonly version!: string;
}

const ON_DISCONNECT_DESCRIPTION = 'What becomes of the run when the caller goes away; `continue` unless said otherwise.';

export class CreateRunBody {
  @ObjectField(() => RunMessageBody)
  readonly message!: RunMessageBody;
  @ObjectField(() => RunConfigBody, { optional: true })
  readonly config?: RunConfigBody;
  @ObjectField(() => RunWidgetBody, { optional: true })
  readonly widget?: RunWidgetBody;
  @EnumField(ON_DISCONNECT, { optional: true, description: ON_DISCONNECT_DESCRIPTION })
  readonly onDisconnect?: 'continue' | 'cancel';
}

export class RejoinBody {
  @UuidField()
  readonly runId!: string;
  @IntegerField({ min: 0, optional: true, description: 'Number of the last event that was read; 0 reads all.' })
  readonly startingAfter?: number;
}

export class StreamRunBody {
  @ObjectField(() => RunMessageBody, { optional: true, description: 'Exactly one of `message` and `rejoin`.' })
  readonly message?: RunMessageBody;
  @ObjectField(() => RejoinBody, { optional: true, description: 'Continues the stream of a run; no new turn.' })
  readonly rejoin?: RejoinBody;
  @ObjectField(() => RunConfigBody, { optional: true })
  readonly config?: RunConfigBody;
  @ObjectField(() => RunWidgetBody, { optional: true })
  readonly widget?: RunWidgetBody;
  @EnumField(ON_DISCONNECT, { optional: true, description: ON_DISCONNECT_DESCRIPTION })
  readonly onDisconnect?: 'continue' | 'cancel';
}

export class StreamQuery {
  @QueryBooleanField({ optional: true, description: 'Sends the thinking of the model as REASONING events too.' })
  readonly reasoning: boolean = false;
}

export class RejoinQuery extends StreamQuery {
  @QueryIntegerField({ min: 0, optional: true, description: 'Number of the last event that was read.' })
  readonly starting_after?: number;
}

/** @throws ValidationFailed for a `Last-Event-ID` that is no event's number */
export function readPosition(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  if (typeof lastEventId !== 'string' || !/^\d{1,9}$/.test(lastEventId)) {
    throw new ValidationFailed('headers/last-event-id must be the number of an event');
  }
  return Number(lastEventId);
}
