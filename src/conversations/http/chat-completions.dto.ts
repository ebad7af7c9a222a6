import { getSchemaPath } from '@nestjs/swagger';
import { Allow, ArrayMaxSize, ArrayMinSize, IsArray, isObject, IsObject } from 'class-validator';
import {
  withItemMessage,
  EnumField,
  field,
  type FieldOptions,
  IgnoreUnknownFields,
  IntegerField,
  withMessage,
} from '../../platform/http/index.js';
import {
  BooleanField,
  ObjectField,
  ObjectListField,
  StringField,
  UnionField,
  UuidField,
} from '../../platform/http/index.js';
import {
  ATTACHMENTS_DESCRIPTION,
  AttachmentBody,
  MAX_ATTACHMENTS,
  MAX_ATTACHMENTS_OF_REQUEST,
} from './attachments.dto.js';
import { CLIENT_TOOL_NAME, MAX_CLIENT_TOOLS, MAX_CLIENT_TOOLS_JSON } from './client-tools.dto.js';
import { MAX_TOOL_OUTPUT } from '../engine/limits.js';
import { MAX_CONTENT, MAX_ID, MAX_INSTRUCTIONS, MAX_MESSAGES, MAX_PARTS } from './content-limits.js';
import { STREAM_ERROR_CODES } from '../domain/run.js';
import { COMPLETION_FORMATS, type CompletionFormatBody } from './response-format.dto.js';
import { RunConfigBody } from './runs.dto.js';
import { list, object, text } from './schemas.js';

export type ChatMessageFields = Readonly<Record<string, unknown>>;

const TEXT_PART = {
  type: 'object',
  required: ['type', 'text'],
  properties: { type: text('A part that is text.', { const: 'text' }), text: text('The text.') },
};

const IMAGE_PART = object(
  'Of a user’s message.',
  {
    type: text('A part that is an image.', { const: 'image_url' }),
    image_url: object('The image.', { url: text('A public URL, or a data URL.') }, ['url']),
  },
  ['type', 'image_url'],
);

const FILE_PART = object(
  'Of a user’s message.',
  {
    type: text('A part that is a file.', { const: 'file' }),
    file: object(
      'The file.',
      {
        file_data: text('A data URL, or base64.'),
        filename: text('Its name, which says what it is where `file_data` does not.'),
      },
      ['file_data'],
    ),
  },
  ['type', 'file'],
);

const TOOL_CALL = object(
  'A call of a tool of the client.',
  {
    id: text('The `tool_call_id` of its result.'),
    type: text('The type of the tool.', { const: 'function' }),
    function: object('What is called.', { name: text('The tool.'), arguments: text('A JSON object, as text.') }, [
      'name',
      'arguments',
    ]),
  },
  ['id', 'type', 'function'],
);

const TOOL = object(
  'A tool of the client.',
  {
    type: text('Other types are refused.', { const: 'function' }),
    function: object(
      'The tool.',
      {
        name: text('Not the name of a tool that the agent has.', { pattern: CLIENT_TOOL_NAME.source }),
        description: text('Tells the model what the tool does.'),
        parameters: { type: 'object', description: 'JSON Schema of the arguments.' },
      },
      ['name'],
    ),
  },
  ['type', 'function'],
);

/** `readTools` checks the tools. */
function ToolsField(options: FieldOptions): PropertyDecorator {
  return field(
    { ...options, optional: true, nullable: true },
    { type: 'array', maxItems: MAX_CLIENT_TOOLS, items: TOOL },
    IsArray(withMessage('must be an array')),
  );
}

/** `readConversation` checks the messages, since the allowed fields depend on how the request names its agent. */
function ChatMessagesField(options: FieldOptions): PropertyDecorator {
  const properties = {
    role: text(
      '`system` and `developer` only where `model` names the agent; all of these together have at most ' +
        `${MAX_INSTRUCTIONS} characters.`,
      { enum: ['user', 'assistant', 'tool', 'system', 'developer'] },
    ),
    content: {
      description:
        'At least one character, or a part that is not text. A user’s message must not be blank unless it has such a part or ' +
        `attachments. At most ${MAX_CONTENT} characters of text in all parts together, of a tool’s message ${MAX_TOOL_OUTPUT}. ` +
        'Null only beside `tool_calls`. Parts only where `model` names the agent, or of tools’ messages.',
      oneOf: [
        { type: 'null' },
        { type: 'string', maxLength: MAX_TOOL_OUTPUT },
        { type: 'array', maxItems: MAX_PARTS, items: { oneOf: [TEXT_PART, IMAGE_PART, FILE_PART] } },
      ],
    },
    tool_calls: list(
      'Of an assistant’s message, whose `content` may then be null: calls of the client’s tools.',
      TOOL_CALL,
      { maxItems: MAX_PARTS },
    ),
    tool_call_id: text('Of a tool’s message: the call that `content` is the result of.', {
      minLength: 1,
      maxLength: MAX_ID,
    }),
    id: text("The client's own id. A user's message is read back with it as `clientId`.", {
      minLength: 1,
      maxLength: MAX_ID,
    }),
    attachments: list(
      `Of a user’s message; at most ${MAX_ATTACHMENTS_OF_REQUEST} in one request. ${ATTACHMENTS_DESCRIPTION}`,
      { $ref: getSchemaPath(AttachmentBody) },
      { maxItems: MAX_ATTACHMENTS },
    ),
  };
  const items = { type: 'object', required: ['role', 'content'], properties };
  const schema = { type: 'array', minItems: 1, maxItems: MAX_MESSAGES, items };
  return field(
    options,
    schema,
    IsArray(withMessage('must be an array')),
    ArrayMinSize(1, withMessage('must have at least 1 element')),
    ArrayMaxSize(MAX_MESSAGES, withMessage(`must have at most ${MAX_MESSAGES} elements`)),
    IsObject(withItemMessage('must be an object', isObject)),
  );
}

/** `readTools` checks it. */
function ToolChoiceField(options: FieldOptions): PropertyDecorator {
  const schema = { oneOf: [{ type: 'string', enum: ['auto', 'none', 'required'] }, { type: 'object' }] };
  return field({ ...options, optional: true, nullable: true }, schema, Allow());
}

/** Used as the agent's id only when `assistant_id` is absent; any other value is ignored. */
function ModelField(options: FieldOptions): PropertyDecorator {
  return field(options, { type: 'string' }, Allow());
}

@IgnoreUnknownFields()
export class StreamOptionsBody {
  @BooleanField({
    optional: true,
    nullable: true,
    description: 'Sends the usage in a separate chunk, before `[DONE]`.',
  })
  readonly include_usage?: boolean | null;
}

@IgnoreUnknownFields()
export class ChatCompletionBody {
  @UuidField({ optional: true, description: 'The agent to talk to. Required unless `model` is its id.' })
  readonly assistant_id?: string;

  @ModelField({ optional: true, description: 'Where `assistant_id` is absent: the id of the agent.' })
  readonly model?: unknown;

  @ChatMessagesField({
    description:
      'The conversation; the last message is answered and must be a user’s, or the result of a tool. With `thread_id` the stored ' +
      'history is the context and only the last message, or the results at the end, are new; without, results continue the ' +
      'run that waits for them, and else a thread is made and the others become its history.',
  })
  readonly messages!: readonly ChatMessageFields[];

  @UuidField({ optional: true, description: 'A thread of this agent, to continue it.' })
  readonly thread_id?: string;

  @ToolsField({
    description: `Offered beside the agent's own tools. Their JSON has at most ${MAX_CLIENT_TOOLS_JSON} characters.`,
  })
  readonly tools?: readonly unknown[] | null;

  @ToolChoiceField({
    description:
      'Binds the first answer of the model alone. `none`: the tools are not offered. `allowed_tools`: only these are.',
  })
  readonly tool_choice?: unknown;

  @BooleanField({
    optional: true,
    nullable: true,
    description: 'False: the model makes one call at a time, where its provider can be told so.',
  })
  readonly parallel_tool_calls?: boolean | null;

  @BooleanField({ optional: true, nullable: true, description: 'Streams `chat.completion.chunk` events.' })
  readonly stream?: boolean | null;

  @ObjectField(() => StreamOptionsBody, {
    optional: true,
    nullable: true,
    description: 'Settings of the stream; without effect unless `stream` is true.',
  })
  readonly stream_options?: StreamOptionsBody | null;

  @UnionField('type', COMPLETION_FORMATS, {
    optional: true,
    nullable: true,
    description:
      'What the reply must be. A JSON document is checked before it is sent, in one chunk on streams; an invalid one is asked for once ' +
      'more, then the completion fails with `invalid_structured_output`.',
  })
  readonly response_format?: CompletionFormatBody | null;

  @ObjectField(() => RunConfigBody, { optional: true, description: 'Facts about the caller.' })
  readonly config?: RunConfigBody;
}

const FINISH_REASONS = ['stop', 'length', 'content_filter', 'tool_calls'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

export class CalledFunctionResponse {
  @StringField({ description: 'The name of a tool of the request.' })
  readonly name!: string;
  @StringField({ description: 'A JSON object, as text.' })
  readonly arguments!: string;
}

export class CompletionToolCallResponse {
  @StringField({ description: 'The `tool_call_id` of its result.' })
  readonly id!: string;
  @EnumField(['function'], { description: 'The type of the tool.' })
  readonly type!: 'function';
  @ObjectField(() => CalledFunctionResponse, { description: 'What is called.' })
  readonly function!: CalledFunctionResponse;
}

export class CompletionToolCallDeltaResponse extends CompletionToolCallResponse {
  @IntegerField({ description: 'Position among the calls. Each call comes as a whole.' })
  readonly index!: number;
}

export class CompletionMessageResponse {
  @EnumField(['assistant'], { description: 'Always the agent.' })
  readonly role!: 'assistant';
  @StringField({ nullable: true, description: 'The text of the reply; Markdown. Null for calls without text.' })
  readonly content!: string | null;
  @ObjectListField(() => CompletionToolCallResponse, {
    optional: true,
    description: 'Calls of the client’s tools; absent for none.',
  })
  readonly tool_calls?: readonly CompletionToolCallResponse[];
  @StringField({ nullable: true, description: 'Always null; a refusal of the model is in `content`.' })
  readonly refusal!: string | null;
}

export class CompletionChoiceResponse {
  @IntegerField({ description: 'Always 0: there is one choice.' })
  readonly index!: number;
  @ObjectField(() => CompletionMessageResponse, { description: 'The reply.' })
  readonly message!: CompletionMessageResponse;
  @StringField({ nullable: true, description: 'Always null.' })
  readonly logprobs!: null;
  @EnumField(FINISH_REASONS, {
    description:
      '`length`: cut, by the model’s limit or because the run was cancelled. `content_filter`: the model refused. `tool_calls`: ' +
      'the model waits for the results of `tool_calls`.',
  })
  readonly finish_reason!: FinishReason;
}

export class PromptTokensDetailsResponse {
  @IntegerField({ description: "What the model's provider read from its prompt cache." })
  readonly cached_tokens!: number;
}

export class CompletionUsageResponse {
  @IntegerField({ description: 'What the model read, over all its calls.' })
  readonly prompt_tokens!: number;
  @IntegerField({ description: 'What the model wrote, thinking included.' })
  readonly completion_tokens!: number;
  @IntegerField({ description: 'The sum of both.' })
  readonly total_tokens!: number;
  @ObjectField(() => PromptTokensDetailsResponse, {
    optional: true,
    description: 'Parts of `prompt_tokens`; absent where the provider did not tell.',
  })
  readonly prompt_tokens_details?: PromptTokensDetailsResponse;
}

/** The fields that every object of one completion has. */
export class CompletionFields {
  @StringField({ description: '`chatcmpl-` and the id of the run.' })
  readonly id!: string;
  @IntegerField({ description: 'Seconds since 1970.' })
  readonly created!: number;
  @UuidField({ description: 'The id of the agent.' })
  readonly model!: string;
  @UuidField({ description: 'The conversation; send it with the next message to continue it.' })
  readonly thread_id!: string;
}

export class ChatCompletionResponse extends CompletionFields {
  @EnumField(['chat.completion'], { description: 'The type of the object, as the OpenAI API has it.' })
  readonly object!: 'chat.completion';
  @ObjectListField(() => CompletionChoiceResponse, { description: 'One choice.' })
  readonly choices!: readonly CompletionChoiceResponse[];
  @ObjectField(() => CompletionUsageResponse, {
    optional: true,
    description: 'Absent where the provider did not tell.',
  })
  readonly usage?: CompletionUsageResponse;
}

export class CompletionDeltaResponse {
  @EnumField(['assistant'], { optional: true, description: 'Always the agent; in the first chunk alone.' })
  readonly role?: 'assistant';
  @StringField({
    optional: true,
    description: 'To be appended to the text so far; absent in the chunk that says why the text ends.',
  })
  readonly content?: string;
  @ObjectListField(() => CompletionToolCallDeltaResponse, {
    optional: true,
    description: 'Calls of the client’s tools, in a chunk of their own.',
  })
  readonly tool_calls?: readonly CompletionToolCallDeltaResponse[];
  @StringField({ optional: true, nullable: true, description: 'Always null; in the first chunk alone.' })
  readonly refusal?: null;
}

export class ChunkChoiceResponse {
  @IntegerField({ description: 'Always 0: there is one choice.' })
  readonly index!: number;
  @ObjectField(() => CompletionDeltaResponse, { description: 'What is new.' })
  readonly delta!: CompletionDeltaResponse;
  @StringField({ nullable: true, description: 'Always null.' })
  readonly logprobs!: null;
  @EnumField(FINISH_REASONS, {
    nullable: true,
    description: 'Why the text ends; null in all chunks but the last that has a choice.',
  })
  readonly finish_reason!: FinishReason | null;
}

export class ChatCompletionChunkResponse extends CompletionFields {
  @EnumField(['chat.completion.chunk'], { description: 'The type of the object, as the OpenAI API has it.' })
  readonly object!: 'chat.completion.chunk';
  @ObjectListField(() => ChunkChoiceResponse, { description: 'One choice; none in the chunk that has the usage.' })
  readonly choices!: readonly ChunkChoiceResponse[];
  @ObjectField(() => CompletionUsageResponse, {
    optional: true,
    nullable: true,
    description: 'With `stream_options.include_usage` alone: null in all chunks but the last.',
  })
  readonly usage?: CompletionUsageResponse | null;
}

export class CompletionErrorResponse {
  @StringField({ description: 'What went wrong, for people.' })
  readonly message!: string;
  @EnumField(['invalid_request_error', 'rate_limit_error', 'server_error'], {
    description: 'The kind of error, as clients of the OpenAI API tell them apart.',
  })
  readonly type!: string;
  @EnumField(STREAM_ERROR_CODES, { description: 'What to branch on.' })
  readonly code!: string;
}

export class StreamErrorResponse {
  @ObjectField(() => CompletionErrorResponse, {
    description: 'Why the run failed after the stream had begun; `[DONE]` follows.',
  })
  readonly error!: CompletionErrorResponse;
}
