import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiProduces, getSchemaPath } from '@nestjs/swagger';
import {
  type DtoClass,
  EnumField,
  IntegerField,
  LiteralField,
  ObjectField,
  ObjectListField,
  StringField,
  StringListField,
  UnionField,
  unionSchema,
  type Variants,
} from '../../platform/http/index.js';
import { STREAM_ERROR_CODES } from '../domain/run.js';
import { ChatCompletionChunkResponse, StreamErrorResponse } from './chat-completions.dto.js';
import { ComponentResponse, InterruptResponse, MessageResponse, RunResponse } from './messages.dto.js';

/* The events of `agui-events.ts` as the OpenAPI document describes them. */

/** A class that only the document needs, with the field `type` and these others. */
function variant(
  name: string,
  type: string,
  description: string,
  fields: Readonly<Record<string, PropertyDecorator>> = {},
): () => DtoClass {
  class Variant {
    readonly type!: string;
  }
  Object.defineProperty(Variant, 'name', { value: name });
  for (const [field, declare] of Object.entries({ type: LiteralField(type, { description }), ...fields })) {
    // As the compiler emits it for a decorated property.
    Reflect.metadata('design:type', Object)(Variant.prototype, field);
    declare(Variant.prototype, field);
  }
  return () => Variant;
}

export class OwnIdsResponse {
  @StringField({ description: 'The id of the thread at this service.' })
  readonly threadId!: string;
  @StringField({ description: 'The id of the run at this service.' })
  readonly runId!: string;
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
  @IntegerField({
    optional: true,
    description: "The part of `inputTokens` that came from the provider's prompt cache; absent where it did not tell.",
  })
  readonly cachedInputTokens?: number;
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

const RUN_IDS = {
  threadId: StringField({ description: 'The thread; on the AG-UI route the id that the client has sent.' }),
  runId: StringField({ description: 'The run; on the AG-UI route the id that the client has sent.' }),
};
const MESSAGE = {
  messageId: StringField({ description: 'The id that the reply has among the messages of the thread.' }),
};
const THOUGHT = { messageId: StringField({ description: 'The id of one thought.' }) };
const TOOL_CALL = { toolCallId: StringField({ description: 'The id that the call has in the reply’s `toolCalls`.' }) };

const OUTCOMES: Variants = {
  success: variant(
    'SuccessOutcome',
    'success',
    'The run has completed, or waits only for calls of the caller’s tools.',
    {
      pendingToolCallIds: StringListField({
        optional: true,
        description: 'The calls of the caller’s tools, in their order; absent for none.',
      }),
    },
  ),
  interrupt: variant('InterruptOutcome', 'interrupt', 'Calls of tools wait for approval.', {
    interrupts: ObjectListField(() => InterruptResponse, {
      description: 'What is to be approved; the next run’s `resume` answers all of them.',
    }),
  }),
  cancelled: variant('CancelledOutcome', 'cancelled', 'The run was cancelled; its text so far is kept.'),
};

/** By type, each with the name of its schema. */
const EVENTS: Readonly<Record<string, [name: string, description: string, Record<string, PropertyDecorator>]>> = {
  RUN_STARTED: [
    'RunStartedEvent',
    'The first event of every run.',
    {
      ...RUN_IDS,
      protocolVersion: StringField({ description: 'The version of AG-UI that the stream follows.' }),
      metadata: ObjectField(() => OwnIdsResponse, {
        optional: true,
        description: 'On the AG-UI route alone: the service’s own ids.',
      }),
    },
  ],
  TEXT_MESSAGE_START: [
    'TextMessageStartEvent',
    'The text of the reply begins.',
    { ...MESSAGE, role: EnumField(['assistant'], { description: 'Always the agent.' }) },
  ],
  TEXT_MESSAGE_CONTENT: [
    'TextMessageContentEvent',
    'A further piece of the text.',
    { ...MESSAGE, delta: StringField({ description: 'To be appended to the text so far.' }) },
  ],
  TEXT_MESSAGE_END: ['TextMessageEndEvent', 'The text is complete.', MESSAGE],
  REASONING_START: [
    'ReasoningStartEvent',
    'The model begins to think. Sent with `?reasoning=true` alone, as all events of thinking.',
    THOUGHT,
  ],
  REASONING_MESSAGE_START: [
    'ReasoningMessageStartEvent',
    'The text of the thought begins.',
    { ...THOUGHT, role: EnumField(['reasoning'], { description: 'Always `reasoning`.' }) },
  ],
  REASONING_MESSAGE_CONTENT: [
    'ReasoningMessageContentEvent',
    'A further piece of the thought.',
    { ...THOUGHT, delta: StringField({ description: 'To be appended to the thought so far.' }) },
  ],
  REASONING_MESSAGE_END: ['ReasoningMessageEndEvent', 'The text of the thought is complete.', THOUGHT],
  REASONING_END: ['ReasoningEndEvent', 'The thought is complete.', THOUGHT],
  TOOL_CALL_START: [
    'ToolCallStartEvent',
    'A tool is called. Sent where the agent shows its tool activity (`toolProgress`), as all events of tool calls.',
    {
      ...TOOL_CALL,
      toolCallName: StringField({ description: 'Name of the tool as the model sees it.' }),
      parentMessageId: StringField({ description: 'The reply that the call belongs to.' }),
    },
  ],
  TOOL_CALL_ARGS: [
    'ToolCallArgsEvent',
    'A further piece of the arguments.',
    {
      ...TOOL_CALL,
      delta: StringField({ description: 'To be appended to the arguments so far, which are JSON in the end.' }),
    },
  ],
  TOOL_CALL_END: ['ToolCallEndEvent', 'The arguments are complete.', TOOL_CALL],
  TOOL_CALL_RESULT: [
    'ToolCallResultEvent',
    'The result of the call.',
    {
      messageId: StringField({ description: 'The id of the result.' }),
      ...TOOL_CALL,
      content: StringField({ description: 'The text of the result or error, with what hooks added.' }),
      role: EnumField(['tool'], { description: 'Always `tool`.' }),
    },
  ],
  CUSTOM: [
    'ComponentEvent',
    'A response component is to be shown.',
    {
      name: EnumField(['component'], { description: 'Always `component`.' }),
      value: ObjectField(() => ComponentResponse, { description: 'The component.' }),
    },
  ],
  RUN_FINISHED: [
    'RunFinishedEvent',
    'The run has ended and did not fail; nothing follows.',
    {
      ...RUN_IDS,
      outcome: UnionField('type', OUTCOMES, { description: 'How it ended.' }),
      usage: ObjectListField(() => ModelUsage, { description: 'What the run used, over all its calls of the model.' }),
      result: ObjectField(() => FinishedRun, { description: 'What the waiting route would have answered.' }),
    },
  ],
  RUN_ERROR: [
    'RunErrorEvent',
    'The run has failed, or its events cannot be read; nothing follows.',
    {
      message: StringField({ description: 'What went wrong, for people.' }),
      code: EnumField(STREAM_ERROR_CODES, { description: 'What to branch on.' }),
    },
  ],
};

const RUN_EVENTS: Variants = Object.fromEntries(
  Object.entries(EVENTS).map(([type, [name, description, fields]]) => [type, variant(name, type, description, fields)]),
);

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
