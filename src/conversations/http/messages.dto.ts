import {
  BooleanField,
  EnumField,
  IntegerField,
  JsonObjectField,
  NumberField,
  ObjectField,
  ObjectListField,
  StringField,
  TimestampField,
  UuidField,
} from '../../platform/http/index.js';
import { AttachmentResponse } from './attachments.dto.js';
import { APPROVAL_HOURS } from '../domain/approval.js';
import {
  MESSAGE_ROLES,
  MESSAGE_STATUSES,
  type MessageRole,
  type MessageStatus,
  TOOL_CALL_STATUSES,
  type ToolCallStatus,
} from '../domain/message.js';
import { RUN_ERROR_CODES, RUN_STATUSES, type RunErrorCode, type RunStatus } from '../domain/run.js';

export class ToolCallResponse {
  @StringField({ description: 'The `toolCallId` of events and interrupts.' })
  readonly id!: string;
  @StringField({ description: 'Name of the tool as the model sees it.' })
  readonly name!: string;
  @JsonObjectField({ description: 'The arguments with which the call was made, a JSON object.' })
  readonly input!: Readonly<Record<string, unknown>>;
  @JsonObjectField({
    optional: true,
    description: 'The arguments that the model wrote; present where the person who approved the call changed them.',
  })
  readonly requestedInput?: Readonly<Record<string, unknown>>;
  @StringField({
    optional: true,
    description: 'The text of the result or error, with what hooks added; absent before there is one.',
  })
  readonly output?: string;
  @EnumField(TOOL_CALL_STATUSES, {
    description:
      '`awaiting_approval`: the run ended with a request for approval. `awaiting_result`: the caller makes the call and has not ' +
      'sent its result. `approved`: made in the run that resumed it, ' +
      'whose message has the result. `denied`: not made, because a hook or a person refused it, or the request expired. ' +
      '`unknown`: under way when its process died, the run was ended or the answer failed; it may have had its effect.',
  })
  readonly status!: ToolCallStatus;
}

export class ComponentResponse {
  @UuidField({ description: 'The id in the component’s event.' })
  readonly id!: string;
  @StringField({ description: 'The kind of component: `confirm`, `select`, `card` or `list`; others may be added.' })
  readonly component!: string;
  @JsonObjectField({ description: 'The properties of the component.' })
  readonly props!: Readonly<Record<string, unknown>>;
  @StringField({ description: 'The component as prose (Markdown), for a widget that cannot draw it.' })
  readonly fallback!: string;
}

export class PartOffsetResponse {
  @StringField({ description: 'Of a tool call or a component.' })
  readonly id!: string;
  @IntegerField({ description: 'The number of UTF-16 characters of `content` before it.' })
  readonly offset!: number;
}

export class MessageResponse {
  @UuidField({ description: 'Id of the service; `{messageId}` in paths.' })
  readonly id!: string;
  @UuidField({ description: 'The conversation that it is part of.' })
  readonly thread_id!: string;
  @StringField({
    nullable: true,
    description: 'Of a user’s message: the `id` that was sent with it; null where none was sent.',
  })
  readonly clientId!: string | null;
  @EnumField(MESSAGE_ROLES, { description: 'The author: the person, or the agent.' })
  readonly role!: MessageRole;
  @StringField({ description: 'The text; Markdown in replies.' })
  readonly content!: string;
  @ObjectListField(() => AttachmentResponse, { description: 'Files that the user sent along; empty in replies.' })
  readonly attachments!: readonly AttachmentResponse[];
  @TimestampField({ description: 'When the message was stored.' })
  readonly createdAt!: string;
  @UuidField({
    nullable: true,
    description: 'The run that the message began or that wrote it; null for history that a client sent.',
  })
  readonly runId!: string | null;
  @EnumField(MESSAGE_STATUSES, {
    description:
      '`incomplete`: the reply ended early and has the text so far. `failed`: the run failed before the model wrote text.',
  })
  readonly status!: MessageStatus;
  @BooleanField({
    optional: true,
    description:
      'Of a reply: a hook blocked the prompt, and the text is the reason. Of a message in a history that the request sent: a hook keeps it from the model.',
  })
  readonly blocked?: boolean;
  @ObjectListField(() => ComponentResponse, {
    description: 'Response components of a reply, in their order. The user’s choice is sent as the next message.',
  })
  readonly components!: readonly ComponentResponse[];
  @ObjectListField(() => ToolCallResponse, {
    optional: true,
    description: 'Present where the agent shows its tool activity (`toolProgress`).',
  })
  readonly toolCalls?: readonly ToolCallResponse[];
  @ObjectListField(() => PartOffsetResponse, {
    optional: true,
    description:
      'Where the reply shows its components and `toolCalls`, in their order. Absent when there is no such part; older messages ' +
      'lack it.',
  })
  readonly partOffsets?: readonly PartOffsetResponse[];
  @JsonObjectField({
    description: 'The user’s reaction to the reply: at most one entry, by its name, with `comment` and `createdAt`.',
  })
  readonly reactions!: Readonly<Record<string, unknown>>;
}

export class MessageListResponse {
  @ObjectListField(() => MessageResponse, { description: 'The newest 200, oldest first.' })
  readonly messages!: readonly MessageResponse[];
  @BooleanField({ description: 'The thread has older messages: more than 200, or more than fit into 4 MiB.' })
  readonly truncated!: boolean;
}

export class RunUsageResponse {
  @IntegerField({ nullable: true, description: 'Null when the provider ended before it reported it.' })
  readonly inputTokens!: number | null;
  @IntegerField({ nullable: true, description: 'What the model wrote, thinking included; null as for `inputTokens`.' })
  readonly outputTokens!: number | null;
  @IntegerField({ nullable: true, description: 'The sum of both; null as for `inputTokens`.' })
  readonly totalTokens!: number | null;
  @IntegerField({
    nullable: true,
    description:
      'The part of `inputTokens` that the provider read from its prompt cache, at a lower price; null where it did not tell.',
  })
  readonly cachedInputTokens!: number | null;
  @NumberField({ description: "What the run costs, to four decimals; 0 on an API key of the agent's own." })
  readonly credits!: number;
}

export class RunErrorResponse {
  @EnumField(RUN_ERROR_CODES, { description: "What to branch on. `provider_*` are faults of the model's provider." })
  readonly code!: RunErrorCode;
  @StringField({ description: 'For people.' })
  readonly message!: string;
}

export class RunResponse {
  @UuidField({ description: "Named by `runId` everywhere else; the id of the run's trace too." })
  readonly id!: string;
  @UuidField({ description: 'The conversation that the run is part of.' })
  readonly thread_id!: string;
  @UuidField({ description: 'The agent that ran.' })
  readonly assistant_id!: string;
  @EnumField(RUN_STATUSES, {
    description:
      '`requires_action`: calls of tools wait for approval, or for results that the caller sends. `cancelled` and `timed_out` runs keep the text they have.',
  })
  readonly status!: RunStatus;
  @TimestampField({ description: 'When the run was accepted.' })
  readonly createdAt!: string;
  @TimestampField({ nullable: true, description: 'When the run ended; null while it is running.' })
  readonly completedAt!: string | null;
  @ObjectField(() => RunUsageResponse, { description: 'What the run used, over all its calls of the model.' })
  readonly usage!: RunUsageResponse;
  @ObjectField(() => RunErrorResponse, {
    nullable: true,
    description: 'Why the run failed or timed out; null otherwise.',
  })
  readonly error!: RunErrorResponse | null;
}

export class ApprovalMetadataResponse {
  @StringField({ description: 'Name of the tool as the model sees it.' })
  readonly tool!: string;
  @JsonObjectField({ description: 'The arguments of the call.' })
  readonly input!: Readonly<Record<string, unknown>>;
}

export class InterruptResponse {
  @UuidField({ description: 'Named by `interruptId` of its answer.' })
  readonly id!: string;
  @EnumField(['tool_approval', 'client_tool_call'], {
    description:
      '`tool_approval`: the call waits for approval. `client_tool_call`: the tool is the caller’s, who makes the call and sends its result.',
  })
  readonly reason!: string;
  @StringField({ description: 'For the person or program that answers.' })
  readonly message!: string;
  @StringField({ description: "The call in the reply's `toolCalls` and in the events." })
  readonly toolCallId!: string;
  @JsonObjectField({ description: 'A JSON Schema of the `payload` that answers it.' })
  readonly responseSchema!: Readonly<Record<string, unknown>>;
  @TimestampField({
    description: `After this time it can no longer be answered: ${APPROVAL_HOURS} hours after the end of the run.`,
  })
  readonly expiresAt!: string;
  @ObjectField(() => ApprovalMetadataResponse, { description: 'The call.' })
  readonly metadata!: ApprovalMetadataResponse;
}

export class RunResultResponse {
  @ObjectField(() => RunResponse, { description: 'The run.' })
  readonly run!: RunResponse;
  @ObjectField(() => MessageResponse, {
    nullable: true,
    description: 'The reply; null where the run has not written one.',
  })
  readonly message!: MessageResponse | null;
  @ObjectListField(() => InterruptResponse, {
    description:
      'What a run with the status `requires_action` waits for, one entry for each call; empty otherwise. A run that is read or ' +
      'cancelled later has those that are still open: none once they are answered, declined by a message, or expired.',
  })
  readonly interrupts!: readonly InterruptResponse[];
}
