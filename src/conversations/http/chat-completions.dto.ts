import { type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';
import { Allow, ArrayMaxSize, ArrayMinSize, IsArray, isObject, IsObject } from 'class-validator';
import { eachSays, EnumField, field, type FieldOptions, IgnoreUnknownFields, IntegerField, says } from '../../platform/http/index.js';
import { BooleanField, ObjectField, ObjectListField, StringField, UuidField } from '../../platform/http/index.js';
import { ATTACHMENTS_DESCRIPTION, AttachmentBody, MAX_ATTACHMENTS, MAX_ATTACHMENTS_OF_REQUEST } from './attachments.dto.js';
import { MAX_CONTENT, MAX_ID, MAX_INSTRUCTIONS, MAX_MESSAGES, MAX_PARTS } from './content-limits.js';
import { RunConfigBody } from './runs.dto.js';

export type ChatMessageFields = Readonly<Record<string, unknown>>;

const TEXT_PART = {
  type: 'object',
  required: ['type', 'text'],
  properties: { type: { type: 'string', const: 'text' }, text: { type: 'string' } },
};

const IMAGE_PART = {
  type: 'object',
  required: ['type', 'image_url'],
  description: 'Of a user’s message. A public URL, or a data URL.',
  properties: {
    type: { type: 'string', const: 'image_url' },
    image_url: { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
  },
};

const FILE_PART = {
  type: 'object',
  required: ['type', 'file'],
  description: 'Of a user’s message. A data URL, or base64.',
  properties: {
    type: { type: 'string', const: 'file' },
    file: {
      type: 'object',
      required: ['file_data'],
      properties: { file_data: { type: 'string' }, filename: { type: 'string' } },
    },
  },
};

/** What of a message is read depends on how the request names its agent, so a reader of its own checks each. */
function ChatMessagesField(options: FieldOptions): PropertyDecorator {
  const schema = {
    type: 'array',
    minItems: 1,
    maxItems: MAX_MESSAGES,
    items: {
      type: 'object',
      required: ['role', 'content'],
      properties: {
        role: {
          type: 'string',
          enum: ['user', 'assistant', 'system', 'developer'],
          description:
            '`system` and `developer` only where `model` names the agent; all of these together have at most ' +
            `${MAX_INSTRUCTIONS} characters.`,
        },
        content: {
          description:
            `At least one character, or a part that is not text; at most ${MAX_CONTENT} characters of text, in all ` +
            'parts together. Parts only where `model` names the agent.',
          oneOf: [
            { type: 'string', maxLength: MAX_CONTENT },
            { type: 'array', maxItems: MAX_PARTS, items: { oneOf: [TEXT_PART, IMAGE_PART, FILE_PART] } },
          ],
        } as object,
        id: { type: 'string', minLength: 1, maxLength: MAX_ID, description: "The client's own id." },
        attachments: {
          type: 'array',
          maxItems: MAX_ATTACHMENTS,
          items: { $ref: getSchemaPath(AttachmentBody) },
          description: `Of a user’s message; at most ${MAX_ATTACHMENTS_OF_REQUEST} in one request. ${ATTACHMENTS_DESCRIPTION}`,
        } as object,
      },
    },
  } as ApiPropertyOptions;
  return field(
    options,
    schema,
    IsArray(says('must be an array')),
    ArrayMinSize(1, says('must have at least 1 element')),
    ArrayMaxSize(MAX_MESSAGES, says(`must have at most ${MAX_MESSAGES} elements`)),
    IsObject(eachSays('must be an object', isObject)),
  );
}

/** Read for the agent's id only where `assistant_id` is absent; anything else a client sends here is its own. */
function ModelField(options: FieldOptions): PropertyDecorator {
  return field(options, { type: 'string' }, Allow());
}

@IgnoreUnknownFields()
export class StreamOptionsBody {
  @BooleanField({
    optional: true,
    nullable: true,
    description: 'Sends the usage in a chunk of its own, before `[DONE]`.',
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
      'The conversation; the last message is answered and must be a user’s. With `thread_id` the stored history is ' +
      'the context and only the last message is new; without, a thread is made and the others become its history.',
  })
  readonly messages!: readonly ChatMessageFields[];

  @UuidField({ optional: true, description: 'A thread of this agent, to continue it.' })
  readonly thread_id?: string;

  @BooleanField({ optional: true, nullable: true, description: 'Streams `chat.completion.chunk` events.' })
  readonly stream?: boolean | null;

  @ObjectField(() => StreamOptionsBody, { optional: true, nullable: true })
  readonly stream_options?: StreamOptionsBody | null;

  @ObjectField(() => RunConfigBody, { optional: true })
  readonly config?: RunConfigBody;
}

const FINISH_REASONS = ['stop', 'length', 'content_filter'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

export class CompletionMessageResponse {
  @EnumField(['assistant'])
  readonly role!: 'assistant';
  @StringField()
  readonly content!: string;
  @StringField({ nullable: true })
  readonly refusal!: string | null;
}

export class CompletionChoiceResponse {
  @IntegerField()
  readonly index!: number;
  @ObjectField(() => CompletionMessageResponse)
  readonly message!: CompletionMessageResponse;
  @StringField({ nullable: true, description: 'Always null.' })
  readonly logprobs!: null;
  @EnumField(FINISH_REASONS, {
    description: '`length`: cut, by the model’s limit or because the run was cancelled. `content_filter`: the model refused.',
  })
  readonly finish_reason!: FinishReason;
}

export class CompletionUsageResponse {
  @IntegerField()
  readonly prompt_tokens!: number;
  @IntegerField()
  readonly completion_tokens!: number;
  @IntegerField()
  readonly total_tokens!: number;
}

export class ChatCompletionResponse {
  @StringField({ description: '`chatcmpl-` and the id of the run.' })
  readonly id!: string;
  @EnumField(['chat.completion'])
  readonly object!: 'chat.completion';
  @IntegerField({ description: 'Seconds since 1970.' })
  readonly created!: number;
  @UuidField({ description: 'The id of the agent.' })
  readonly model!: string;
  @ObjectListField(() => CompletionChoiceResponse)
  readonly choices!: readonly CompletionChoiceResponse[];
  @ObjectField(() => CompletionUsageResponse, { optional: true, description: 'Absent where the provider did not tell.' })
  readonly usage?: CompletionUsageResponse;
  @UuidField()
  readonly thread_id!: string;
}
