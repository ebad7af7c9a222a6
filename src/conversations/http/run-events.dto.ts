import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiProduces, getSchemaPath } from '@nestjs/swagger';
import {
  EnumField,
  IntegerField,
  LiteralField,
  ObjectField,
  ObjectListField,
  StringField,
  UnionField,
  unionSchema,
  type Variants,
} from '../../platform/http/index.js';
import { RUN_ERROR_CODES, type RunErrorCode } from '../domain/run.js';
import { ChatCompletionChunkResponse, StreamErrorResponse } from './chat-completions.dto.js';
import { ComponentResponse, InterruptResponse, MessageResponse, RunResponse } from './messages.dto.js';

/* The events of `agui-events.ts` as the OpenAPI document describes them. */

const MESSAGE_ID = { description: 'The id that the reply has among the messages of the thread.' };
const TOOL_CALL_ID = { description: 'The id that the call has in the reply’s `toolCalls`.' };
const THOUGHT_ID = { description: 'The id of one thought.' };

class RunIdsEvent {
  @StringField({ description: 'The thread; on the AG-UI route the id that the client has sent.' })
  readonly threadId!: string;
  @StringField({ description: 'The run; on the AG-UI route the id that the client has sent.' })
  readonly runId!: string;
}

export class OwnIdsResponse {
  @StringField({ description: 'The id of the thread at this service.' })
  readonly threadId!: string;
  @StringField({ description: 'The id of the run at this service.' })
  readonly runId!: string;
}

export class RunStartedEvent extends RunIdsEvent {
  @LiteralField('RUN_STARTED', { description: 'The first event of every run.' })
  readonly type!: 'RUN_STARTED';
  @StringField({ description: 'The version of AG-UI that the stream follows.' })
  readonly protocolVersion!: string;
  @ObjectField(() => OwnIdsResponse, {
    optional: true,
    description: 'On the AG-UI route alone: the service’s own ids.',
  })
  readonly metadata?: OwnIdsResponse;
}

export class TextMessageStartEvent {
  @LiteralField('TEXT_MESSAGE_START', { description: 'The text of the reply begins.' })
  readonly type!: 'TEXT_MESSAGE_START';
  @StringField(MESSAGE_ID)
  readonly messageId!: string;
  @EnumField(['assistant'], { description: 'Always the agent.' })
  readonly role!: 'assistant';
}

export class TextMessageContentEvent {
  @LiteralField('TEXT_MESSAGE_CONTENT', { description: 'A further piece of the text.' })
  readonly type!: 'TEXT_MESSAGE_CONTENT';
  @StringField(MESSAGE_ID)
  readonly messageId!: string;
  @StringField({ description: 'To be appended to the text so far.' })
  readonly delta!: string;
}

export class TextMessageEndEvent {
  @LiteralField('TEXT_MESSAGE_END', { description: 'The text is complete.' })
  readonly type!: 'TEXT_MESSAGE_END';
  @StringField(MESSAGE_ID)
  readonly messageId!: string;
}

export class ReasoningStartEvent {
  @LiteralField('REASONING_START', {
    description: 'The model begins to think. Sent with `?reasoning=true` alone, as all events of thinking.',
  })
  readonly type!: 'REASONING_START';
  @StringField(THOUGHT_ID)
  readonly messageId!: string;
}

export class ReasoningMessageStartEvent {
  @LiteralField('REASONING_MESSAGE_START', { description: 'The text of the thought begins.' })
  readonly type!: 'REASONING_MESSAGE_START';
  @StringField(THOUGHT_ID)
  readonly messageId!: string;
  @EnumField(['reasoning'], { description: 'Always `reasoning`.' })
  readonly role!: 'reasoning';
}

export class ReasoningMessageContentEvent {
  @LiteralField('REASONING_MESSAGE_CONTENT', { description: 'A further piece of the thought.' })
  readonly type!: 'REASONING_MESSAGE_CONTENT';
  @StringField(THOUGHT_ID)
  readonly messageId!: string;
  @StringField({ description: 'To be appended to the thought so far.' })
  readonly delta!: string;
}

export class ReasoningMessageEndEvent {
  @LiteralField('REASONING_MESSAGE_END', { description: 'The text of the thought is complete.' })
  readonly type!: 'REASONING_MESSAGE_END';
  @StringField(THOUGHT_ID)
  readonly messageId!: string;
}

export class ReasoningEndEvent {
  @LiteralField('REASONING_END', { description: 'The thought is complete.' })
  readonly type!: 'REASONING_END';
  @StringField(THOUGHT_ID)
  readonly messageId!: string;
}

export class ToolCallStartEvent {
  @LiteralField('TOOL_CALL_START', {
    description:
      'A tool is called. Sent where the agent shows its tool activity (`toolProgress`), as all events of tool calls.',
  })
  readonly type!: 'TOOL_CALL_START';
  @StringField(TOOL_CALL_ID)
  readonly toolCallId!: string;
  @StringField({ description: 'Name of the tool as the model sees it.' })
  readonly toolCallName!: string;
  @StringField({ description: 'The reply that the call belongs to.' })
  readonly parentMessageId!: string;
}

export class ToolCallArgsEvent {
  @LiteralField('TOOL_CALL_ARGS', { description: 'A further piece of the arguments.' })
  readonly type!: 'TOOL_CALL_ARGS';
  @StringField(TOOL_CALL_ID)
  readonly toolCallId!: string;
  @StringField({ description: 'To be appended to the arguments so far, which are JSON in the end.' })
  readonly delta!: string;
}

export class ToolCallEndEvent {
  @LiteralField('TOOL_CALL_END', { description: 'The arguments are complete.' })
  readonly type!: 'TOOL_CALL_END';
  @StringField(TOOL_CALL_ID)
  readonly toolCallId!: string;
}

export class ToolCallResultEvent {
  @LiteralField('TOOL_CALL_RESULT', { description: 'The result of the call.' })
  readonly type!: 'TOOL_CALL_RESULT';
  @StringField({ description: 'The id of the result.' })
  readonly messageId!: string;
  @StringField(TOOL_CALL_ID)
  readonly toolCallId!: string;
  @StringField({ description: 'The text of the result or error, with what hooks added.' })
  readonly content!: string;
  @EnumField(['tool'], { description: 'Always `tool`.' })
  readonly role!: 'tool';
}

export class ComponentEvent {
  @LiteralField('CUSTOM', { description: 'A response component is to be shown.' })
  readonly type!: 'CUSTOM';
  @EnumField(['component'], { description: 'Always `component`.' })
  readonly name!: 'component';
  @ObjectField(() => ComponentResponse, { description: 'The component.' })
  readonly value!: ComponentResponse;
}

export class SuccessOutcome {
  @LiteralField('success', { description: 'The run has completed.' })
  readonly type!: 'success';
}

export class InterruptOutcome {
  @LiteralField('interrupt', { description: 'Calls of tools wait for approval.' })
  readonly type!: 'interrupt';
  @ObjectListField(() => InterruptResponse, {
    description: 'What is to be approved; the next run’s `resume` answers all of them.',
  })
  readonly interrupts!: readonly InterruptResponse[];
}

export class CancelledOutcome {
  @LiteralField('cancelled', { description: 'The run was cancelled; its text so far is kept.' })
  readonly type!: 'cancelled';
}

export class ModelUsage {
  @StringField({ description: 'Type of the provider that answered.' })
  readonly provider!: string;
  @StringField({ description: 'The model that answered.' })
  readonly model!: string;
  @IntegerField({ optional: true, description: 'What the model read; absent where the provider did not tell.' })
  readonly inputTokens?: number;
  @IntegerField({
    optional: true,
    description: 'What the model wrote, thinking included; absent where the provider did not tell.',
  })
  readonly outputTokens?: number;
  @IntegerField({ optional: true, description: 'The sum of both; absent where the provider did not tell.' })
  readonly totalTokens?: number;
}

export class FinishedRun {
  @ObjectField(() => RunResponse, { description: 'The run as it ended.' })
  readonly run!: RunResponse;
  @ObjectField(() => MessageResponse, {
    nullable: true,
    description: 'The reply; null where the run has not written one.',
  })
  readonly message!: MessageResponse | null;
}

const OUTCOMES: Variants = {
  success: () => SuccessOutcome,
  interrupt: () => InterruptOutcome,
  cancelled: () => CancelledOutcome,
};

export class RunFinishedEvent extends RunIdsEvent {
  @LiteralField('RUN_FINISHED', { description: 'The run has ended and did not fail; nothing follows.' })
  readonly type!: 'RUN_FINISHED';
  @UnionField('type', OUTCOMES, { description: 'How it ended.' })
  readonly outcome!: SuccessOutcome | InterruptOutcome | CancelledOutcome;
  @ObjectListField(() => ModelUsage, { description: 'What the run used, over all its calls of the model.' })
  readonly usage!: readonly ModelUsage[];
  @ObjectField(() => FinishedRun, { description: 'What the waiting route would have answered.' })
  readonly result!: FinishedRun;
}

export class RunErrorEvent {
  @LiteralField('RUN_ERROR', { description: 'The run has failed, or its events cannot be read; nothing follows.' })
  readonly type!: 'RUN_ERROR';
  @StringField({ description: 'What went wrong, for people.' })
  readonly message!: string;
  @EnumField(RUN_ERROR_CODES, { description: 'What to branch on.' })
  readonly code!: RunErrorCode;
}

const RUN_EVENTS: Variants = {
  RUN_STARTED: () => RunStartedEvent,
  TEXT_MESSAGE_START: () => TextMessageStartEvent,
  TEXT_MESSAGE_CONTENT: () => TextMessageContentEvent,
  TEXT_MESSAGE_END: () => TextMessageEndEvent,
  REASONING_START: () => ReasoningStartEvent,
  REASONING_MESSAGE_START: () => ReasoningMessageStartEvent,
  REASONING_MESSAGE_CONTENT: () => ReasoningMessageContentEvent,
  REASONING_MESSAGE_END: () => ReasoningMessageEndEvent,
  REASONING_END: () => ReasoningEndEvent,
  TOOL_CALL_START: () => ToolCallStartEvent,
  TOOL_CALL_ARGS: () => ToolCallArgsEvent,
  TOOL_CALL_END: () => ToolCallEndEvent,
  TOOL_CALL_RESULT: () => ToolCallResultEvent,
  CUSTOM: () => ComponentEvent,
  RUN_FINISHED: () => RunFinishedEvent,
  RUN_ERROR: () => RunErrorEvent,
};

/** Documents an answer that is a stream of a run's events. An error before the first event is JSON. */
export function ApiRunEvents(): MethodDecorator {
  const schema = { description: 'The `data` of one event, which is JSON.', ...unionSchema('type', RUN_EVENTS) };
  return applyDecorators(
    ApiExtraModels(...Object.values(RUN_EVENTS).map((event) => event())),
    ApiProduces('application/json'),
    ApiOkResponse({
      description:
        'Events of AG-UI 1.0, each with its number in the run as `id`; comments keep the connection alive. The last one ' +
        'is `RUN_FINISHED` or `RUN_ERROR`.',
      content: { 'text/event-stream': { schema } },
    }),
  );
}

/** Documents an answer that is a completion, or with `stream` a stream of its chunks. */
export function ApiChatCompletion(completion: new () => object): MethodDecorator {
  const chunks = [ChatCompletionChunkResponse, StreamErrorResponse].map((type) => ({ $ref: getSchemaPath(type) }));
  const done = { type: 'string', const: '[DONE]', description: 'The end of the stream; nothing follows.' };
  const data = {
    description: 'The `data` of one event: JSON, or the text `[DONE]`.',
    oneOf: [...chunks, done as object],
  };
  return applyDecorators(
    ApiExtraModels(completion, ChatCompletionChunkResponse, StreamErrorResponse),
    ApiOkResponse({
      description: 'The completion, or with `stream` its chunks as server-sent events, the last of them `[DONE]`.',
      content: {
        'application/json': { schema: { $ref: getSchemaPath(completion) } },
        'text/event-stream': { schema: data },
      },
    }),
  );
}
