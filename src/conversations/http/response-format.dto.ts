import type { ResponseFormat } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import {
  BooleanField,
  IgnoreUnknownFields,
  JsonObjectField,
  LiteralField,
  ObjectField,
  StringField,
} from '../../platform/http/index.js';
import { JsonSchema, type JsonValues, UnusableSchema } from '../../platform/json-schema/index.js';
import { MAX_FORMAT_DESCRIPTION, MAX_FORMAT_SCHEMA } from './content-limits.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAME_DESCRIPTION = 'For the model and the trace: 1 to 64 letters, digits, `_` and `-`.';
const SCHEMA_DESCRIPTION =
  `A JSON Schema, as JSON of at most ${MAX_FORMAT_SCHEMA} characters. References lead to schemas of the same document; ` +
  '`unevaluatedProperties`, `unevaluatedItems` and `$dynamicRef` are not supported, and patterns are those of RE2, without lookaround and ' +
  'back-references.';
const STRICT_DESCRIPTION =
  'For OpenAI’s models: the provider enforces the schema, and refuses one in which an object does not list all its properties as ' +
  'required, or allows others.';

export class JsonSchemaFormatBody {
  @LiteralField('json_schema', { description: 'The reply is a JSON document that fits the schema.' })
  readonly type!: 'json_schema';
  @StringField({ pattern: NAME, description: NAME_DESCRIPTION })
  readonly name!: string;
  @JsonObjectField({ description: SCHEMA_DESCRIPTION })
  readonly schema!: JsonValues;
  @BooleanField({ optional: true, description: STRICT_DESCRIPTION })
  readonly strict?: boolean;
}

export class JsonObjectFormatBody {
  @LiteralField('json_object', { description: 'The reply is any JSON object.' })
  readonly type!: 'json_object';
}

export type ResponseFormatBody = JsonSchemaFormatBody | JsonObjectFormatBody;

export const RESPONSE_FORMATS = { json_schema: () => JsonSchemaFormatBody, json_object: () => JsonObjectFormatBody };

@IgnoreUnknownFields()
export class CompletionSchemaBody {
  @StringField({ pattern: NAME, description: NAME_DESCRIPTION })
  readonly name!: string;
  @JsonObjectField({ description: SCHEMA_DESCRIPTION })
  readonly schema!: JsonValues;
  @BooleanField({ optional: true, nullable: true, description: STRICT_DESCRIPTION })
  readonly strict?: boolean | null;
  @StringField({
    optional: true,
    nullable: true,
    max: MAX_FORMAT_DESCRIPTION,
    description: 'For the model: what the document is for.',
  })
  readonly description?: string | null;
}

@IgnoreUnknownFields()
export class CompletionTextFormatBody {
  @LiteralField('text', { description: 'Free text, as without a format.' })
  readonly type!: 'text';
}

@IgnoreUnknownFields()
export class CompletionObjectFormatBody {
  @LiteralField('json_object', { description: 'The reply is any JSON object.' })
  readonly type!: 'json_object';
}

@IgnoreUnknownFields()
export class CompletionSchemaFormatBody {
  @LiteralField('json_schema', { description: 'The reply is a JSON document that fits the schema.' })
  readonly type!: 'json_schema';
  @ObjectField(() => CompletionSchemaBody, { description: 'The schema.' })
  readonly json_schema!: CompletionSchemaBody;
}

export type CompletionFormatBody = CompletionTextFormatBody | CompletionObjectFormatBody | CompletionSchemaFormatBody;

export const COMPLETION_FORMATS = {
  text: () => CompletionTextFormatBody,
  json_object: () => CompletionObjectFormatBody,
  json_schema: () => CompletionSchemaFormatBody,
};

const ANY_OBJECT: ResponseFormat = { type: 'json_object' };

/** The option of a run; empty for free text. @throws ValidationFailed for a schema that cannot be used */
export function readResponseFormat(format: ResponseFormatBody | undefined): { responseFormat?: ResponseFormat } {
  if (!format) return {};
  return { responseFormat: format.type === 'json_schema' ? schemaFormat(format, 'body/responseFormat') : ANY_OBJECT };
}

/** The same for the format of a chat completion. */
export function readCompletionFormat(format: CompletionFormatBody | null | undefined): {
  responseFormat?: ResponseFormat;
} {
  if (!format || format.type === 'text') return {};
  if (format.type === 'json_object') return { responseFormat: ANY_OBJECT };
  const { strict, ...schema } = format.json_schema;
  return {
    responseFormat: schemaFormat({ ...schema, strict: strict ?? false }, 'body/response_format/json_schema'),
  };
}

function schemaFormat(
  {
    name,
    schema,
    strict = false,
    description,
  }: Omit<JsonSchemaFormatBody, 'type'> & { readonly description?: string | null },
  field: string,
): ResponseFormat {
  // Not the code points of a shorter text, which are never more.
  const text = JSON.stringify(schema);
  if (text.length > MAX_FORMAT_SCHEMA && Array.from(text).length > MAX_FORMAT_SCHEMA)
    throw new ValidationFailed(`${field}/schema must have at most ${MAX_FORMAT_SCHEMA} characters as JSON`);
  try {
    JsonSchema.read(schema);
  } catch (error) {
    if (error instanceof UnusableSchema) throw new ValidationFailed(`${field}/schema${error.message}`);
    throw error;
  }
  return { type: 'json_schema', name, schema, strict, ...(typeof description === 'string' ? { description } : {}) };
}
