import { isJsonObject } from '../../models/index.js';
import { RUN_STEPS } from '../../agents/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import {
  BooleanField,
  EnumField,
  field,
  type FieldOptions,
  IntegerField,
  isText,
  JsonObjectField,
  NumberField,
  ObjectField,
  ObjectListField,
  QueryBooleanField,
  QueryIntegerField,
  rule,
  ScalarMapField,
  StringField,
  UnionField,
  UuidField,
  withMessage,
} from '../../platform/http/index.js';
import { ATTACHMENTS_DESCRIPTION, AttachmentBody, MAX_ATTACHMENTS } from './attachments.dto.js';
import { MAX_CONTENT, MAX_ID, toolOutput } from './content-limits.js';
import { RESPONSE_FORMATS, type ResponseFormatBody } from './response-format.dto.js';
import { ClientToolBody, MAX_CLIENT_TOOLS, MAX_CLIENT_TOOLS_JSON } from './client-tools.dto.js';
import type { ApprovalAnswer, CallAnswer } from '../domain/approval.js';
import { MAX_TOOL_OUTPUT } from '../engine/limits.js';
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

export class RunLimitsBody {
  @IntegerField({ ...RUN_STEPS, optional: true, description: 'The most calls of the model.' })
  readonly maxSteps?: number;
  @NumberField({ above: 0, optional: true, description: 'The credits after which the model is not called again.' })
  readonly maxCredits?: number;
}

const ANSWER_STATUSES = ['resolved', 'cancelled'] as const;
const MAX_ANSWERS = 1_000;
export const MAX_REASON = 10_000;

/** The text that a caller's tool has returned, or an object. */
function ToolResultField(options: FieldOptions): PropertyDecorator {
  const schema = { oneOf: [{ type: 'string', maxLength: MAX_TOOL_OUTPUT }, { type: 'object' }] };
  const isResult = (value: unknown): boolean => typeof value === 'string' || isJsonObject(value);
  return field(options, schema, rule('isToolResult', isResult, withMessage('must be a string or an object')));
}

export class AnswerBody {
  @BooleanField({ optional: true, description: 'Of a `tool_approval`: whether the call is made.' })
  readonly approved?: boolean;
  @StringField({ optional: true, max: MAX_REASON, description: 'The model reads it when the call is declined.' })
  readonly reason?: string;
  @JsonObjectField({
    optional: true,
    description:
      'Of an approved call: the arguments to make it with, instead of the model’s. Hooks check them, and the model reads ' +
      `that they were changed. At most ${MAX_CONTENT} characters of JSON; not with a session pass (\`403\`).`,
  })
  readonly input?: Readonly<Record<string, unknown>>;
  @ToolResultField({
    optional: true,
    description: `Of a \`client_tool_call\`: what the tool returned. At most ${MAX_TOOL_OUTPUT} characters.`,
  })
  readonly result?: string | Readonly<Record<string, unknown>>;
  @BooleanField({ optional: true, description: 'Beside `result`: the tool failed, and `result` says why.' })
  readonly isError?: boolean;
}

export class ResumeBody {
  @UuidField({ description: 'Id of an interrupt that the last run of the thread ended with.' })
  readonly interruptId!: string;
  @EnumField(ANSWER_STATUSES, { description: '`cancelled` declines the call.' })
  readonly status!: 'resolved' | 'cancelled';
  @ObjectField(() => AnswerBody, {
    optional: true,
    description: 'Required with `resolved`: `approved` for a `tool_approval`, `result` for a `client_tool_call`.',
  })
  readonly payload?: AnswerBody;
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
  'Answered by a new run. Where the last run of the thread waits for approvals or results, it declines all its calls.';
const RESUME_DESCRIPTION =
  'Continues the run that ended as `requires_action`: answers every open interrupt of the thread, each exactly once. ' +
  'An expired one cannot be answered.';

const ON_DISCONNECT_DESCRIPTION = 'Whether the run continues when the caller disconnects; `continue` by default.';

const WIDGET_DESCRIPTION =
  'The caller is a widget: the agent may show response components. The text has the prose of a component that needs a newer ' +
  'widget.';

const TOOLS_DESCRIPTION =
  'Tools of the caller, for this run: a call of one ends the run as `requires_action`, and the next run’s `resume` has the ' +
  'result. A run with `resume` has those of the run that it continues, unless it lists others. Their JSON has at most ' +
  `${MAX_CLIENT_TOOLS_JSON} characters. With a session pass there are none (\`403\`).`;
const LIMITS_DESCRIPTION =
  'What the run may use, together with the runs that it resumes; the agent’s `runLimits` hold too. When a limit is reached, ' +
  'the model is not called again and the run fails as `run_limit_reached`. Beside `resume` they can only lower those of the ' +
  'resumed run.';
const RESPONSE_FORMAT_DESCRIPTION =
  'The reply is a JSON document of this format, whole in one event on streams. An invalid one is asked for once more, then the run fails with ' +
  '`invalid_structured_output`. It holds for the runs that resume this one too. No response components are shown.';

/** The fields that both routes for runs take. */
class RunBody {
  @ObjectListField(() => ClientToolBody, { optional: true, max: MAX_CLIENT_TOOLS, description: TOOLS_DESCRIPTION })
  readonly tools?: readonly ClientToolBody[];
  @ObjectListField(() => ResumeBody, { optional: true, min: 1, max: MAX_ANSWERS, description: RESUME_DESCRIPTION })
  readonly resume?: readonly ResumeBody[];
  @ObjectField(() => RunConfigBody, { optional: true, description: 'Facts about the caller.' })
  readonly config?: RunConfigBody;
  @ObjectField(() => RunWidgetBody, { optional: true, description: WIDGET_DESCRIPTION })
  readonly widget?: RunWidgetBody;
  @ObjectField(() => RunLimitsBody, { optional: true, description: LIMITS_DESCRIPTION })
  readonly limits?: RunLimitsBody;
  @UnionField('type', RESPONSE_FORMATS, { optional: true, description: RESPONSE_FORMAT_DESCRIPTION })
  readonly responseFormat?: ResponseFormatBody;
  @EnumField(ON_DISCONNECT, { optional: true, description: ON_DISCONNECT_DESCRIPTION })
  readonly onDisconnect?: 'continue' | 'cancel';
}

export class CreateRunBody extends RunBody {
  @BooleanField({
    optional: true,
    description:
      'Answers `202` with the run once it is stored, without waiting for its end. Not with `onDisconnect: "cancel"`, and ' +
      'not with a session pass (`403`).',
  })
  readonly background?: boolean;
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

/** @throws ValidationFailed naming the field */
export function readAnswers(resume: readonly ResumeBody[]): ApprovalAnswer[] {
  return resume.map(({ interruptId, status, payload }, index) => {
    const path = `body/resume/${index}/payload`;
    const at = { reference: `body/resume/${index}/interruptId ${interruptId}`, answer: path };
    const answer: CallAnswer =
      status === 'cancelled' ? { type: 'declined', reason: payload?.reason ?? null } : readAnswer(payload ?? {}, path);
    return { refersTo: { interruptId }, answer, at };
  });
}

function readAnswer({ approved, reason, input, result, isError }: AnswerBody, path: string): CallAnswer {
  if ((approved === undefined) === (result === undefined)) {
    throw new ValidationFailed(`${path} must have either approved or result, as status is resolved`);
  }
  if (result !== undefined) {
    if (input !== undefined) throw new ValidationFailed(`${path}/input is only for a call that is approved`);
    const output = typeof result === 'string' ? result : JSON.stringify(result);
    return { type: 'result', output: toolOutput(output, `${path}/result`), isError: isError === true };
  }
  if (isError !== undefined) throw new ValidationFailed(`${path}/isError is only allowed beside result`);
  if (approved === true && input === undefined) return { type: 'approved' };
  if (approved === true && input !== undefined) {
    if (isText(JSON.stringify(input), { max: MAX_CONTENT })) return { type: 'approved', input };
    throw new ValidationFailed(`${path}/input must have at most ${MAX_CONTENT} characters of JSON`);
  }
  if (input !== undefined) throw new ValidationFailed(`${path}/input is only for a call that is approved`);
  return { type: 'declined', reason: reason ?? null };
}

/** @throws ValidationFailed for a `Last-Event-ID` that is not the number of an event */
export function readPosition(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  if (typeof lastEventId !== 'string' || !/^\d{1,9}$/.test(lastEventId)) {
    throw new ValidationFailed('headers/last-event-id must be the number of an event');
  }
  return Number(lastEventId);
}
