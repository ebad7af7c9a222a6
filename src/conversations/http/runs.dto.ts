import { ValidationFailed } from '../../platform/errors/index.js';
import {
  BooleanField,
  EnumField,
  IntegerField,
  ObjectField,
  ObjectListField,
  QueryBooleanField,
  QueryIntegerField,
  ScalarMapField,
  StringField,
  UuidField,
} from '../../platform/http/index.js';
import { ATTACHMENTS_DESCRIPTION, AttachmentBody, MAX_ATTACHMENTS } from './attachments.dto.js';
import { MAX_CONTENT, MAX_ID } from './content-limits.js';
import type { ApprovalAnswer } from '../domain/approval.js';
import type { UserContext } from '../ports/index.js';

const ON_DISCONNECT = ['continue', 'cancel'] as const;

export class RunMessageBody {
  @EnumField(['user'], { description: "Only the user's messages begin a run." })
  readonly role!: 'user';
  @StringField({
    min: 1,
    max: MAX_CONTENT,
    description: 'What the user says. Not blank, unless something is attached.',
  })
  readonly content!: string;
  @StringField({
    min: 1,
    max: MAX_ID,
    optional: true,
    description: "The client's own id, read back as `clientId`; the stored message has an `id` of the service besides.",
  })
  readonly id?: string;
  @ObjectListField(() => AttachmentBody, {
    optional: true,
    max: MAX_ATTACHMENTS,
    description: `${ATTACHMENTS_DESCRIPTION} With a session pass there are none (\`403\`).`,
  })
  readonly attachments?: readonly AttachmentBody[];
}

export class RunConfigBody {
  @ScalarMapField({
    ...{ maxEntries: 64, maxKeyLength: 255, maxValueLength: 10_000, optional: true },
    description:
      'Strings, numbers and booleans by name: scopes tool calls and retrievals, echoed into the trace. A `resume` uses that of ' +
      'the run that asked: leave it out or repeat it; a different one is `400`.',
  })
  readonly userContext?: UserContext;
}

export class RunWidgetBody {
  @StringField({
    min: 1,
    max: 64,
    description: 'Version of the widget SDK, such as `0.5.0`; what is no version counts as an old one.',
  })
  readonly version!: string;
}

/** Fields of a run's body that other bodies have too. */
export class RunCallerBody extends RunConfigBody {
  @ObjectField(() => RunWidgetBody, {
    optional: true,
    description: 'The widget that shows the reply.',
  })
  readonly widget?: RunWidgetBody;
}

const ANSWER_STATUSES = ['resolved', 'cancelled'] as const;
const MAX_ANSWERS = 1_000;
export const MAX_REASON = 10_000;

export class ApprovalBody {
  @BooleanField({ description: 'Whether the call is made.' })
  readonly approved!: boolean;
  @StringField({ optional: true, max: MAX_REASON, description: 'The model reads it when the call is declined.' })
  readonly reason?: string;
}

export class ResumeBody {
  @UuidField({ description: 'Id of an interrupt that the last run of the thread ended with.' })
  readonly interruptId!: string;
  @EnumField(ANSWER_STATUSES, { description: '`cancelled` declines the call.' })
  readonly status!: 'resolved' | 'cancelled';
  @ObjectField(() => ApprovalBody, { optional: true, description: 'Required with `resolved`.' })
  readonly payload?: ApprovalBody;
}

/** The field `resume`, for bodies of other routes. */
export class ResumeListBody {
  @ObjectListField(() => ResumeBody, {
    min: 1,
    max: MAX_ANSWERS,
    description: 'Answers to all open interrupts of the thread.',
  })
  readonly resume!: readonly ResumeBody[];
}

const MESSAGE_DESCRIPTION =
  'Answered by a new run. Where the last run of the thread waits for approval, it declines all requests.';
const RESUME_DESCRIPTION =
  'Continues the run that ended as `requires_action`: answers every open interrupt of the thread, each exactly once. ' +
  'An expired one cannot be answered.';

const ON_DISCONNECT_DESCRIPTION = 'Whether the run continues when the caller disconnects; `continue` by default.';

const WIDGET_DESCRIPTION =
  'The caller is a widget: the agent may show response components. The text has the prose of a component that needs a newer ' +
  'widget.';

/** The fields that both routes for runs take. */
class RunBody {
  @ObjectListField(() => ResumeBody, { optional: true, min: 1, max: MAX_ANSWERS, description: RESUME_DESCRIPTION })
  readonly resume?: readonly ResumeBody[];
  @ObjectField(() => RunConfigBody, { optional: true, description: 'Facts about the caller.' })
  readonly config?: RunConfigBody;
  @ObjectField(() => RunWidgetBody, { optional: true, description: WIDGET_DESCRIPTION })
  readonly widget?: RunWidgetBody;
  @EnumField(ON_DISCONNECT, { optional: true, description: ON_DISCONNECT_DESCRIPTION })
  readonly onDisconnect?: 'continue' | 'cancel';
}

export class CreateRunBody extends RunBody {
  @ObjectField(() => RunMessageBody, {
    optional: true,
    description: `Exactly one of \`message\` and \`resume\`. ${MESSAGE_DESCRIPTION}`,
  })
  readonly message?: RunMessageBody;
}

export class RejoinBody {
  @UuidField({ description: 'A run of this thread that is under way, or ended within 5 minutes.' })
  readonly runId!: string;
  @IntegerField({ min: 0, optional: true, description: 'Number of the last event that was read; 0 reads all.' })
  readonly startingAfter?: number;
}

export class CancelBody extends RejoinBody {}

export class StreamRunBody extends RunBody {
  @ObjectField(() => RunMessageBody, {
    optional: true,
    description: `Exactly one of \`message\`, \`resume\`, \`rejoin\` and \`cancel\`. ${MESSAGE_DESCRIPTION}`,
  })
  readonly message?: RunMessageBody;
  @ObjectField(() => RejoinBody, { optional: true, description: 'Continues the stream of a run and starts none.' })
  readonly rejoin?: RejoinBody;
  @ObjectField(() => CancelBody, {
    optional: true,
    description: 'Ends a run under way and continues its stream to the end; the reply keeps the text so far.',
  })
  readonly cancel?: CancelBody;
}

export class StreamQuery {
  @QueryBooleanField({ optional: true, description: 'Sends the thinking of the model as REASONING events too.' })
  readonly reasoning: boolean = false;
}

export class RejoinQuery extends StreamQuery {
  @QueryIntegerField({ min: 0, optional: true, description: 'Number of the last event that was read.' })
  readonly starting_after?: number;
}

/** @throws ValidationFailed for a resolved answer without a payload */
export function readAnswers(resume: readonly ResumeBody[]): ApprovalAnswer[] {
  return resume.map(({ interruptId, status, payload }, index) => {
    if (status === 'resolved' && !payload) {
      throw new ValidationFailed(`body/resume/${index}/payload must have approved, as status is resolved`);
    }
    const approved = status === 'resolved' && payload?.approved === true;
    return { interruptId, approved, reason: payload?.reason ?? null };
  });
}

/** @throws ValidationFailed for a `Last-Event-ID` that is not the number of an event */
export function readPosition(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  if (typeof lastEventId !== 'string' || !/^\d{1,9}$/.test(lastEventId)) {
    throw new ValidationFailed('headers/last-event-id must be the number of an event');
  }
  return Number(lastEventId);
}
