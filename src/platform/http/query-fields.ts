import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsBoolean, IsUUID } from 'class-validator';
import { isUuid, rule, type TextBounds } from './constraints.js';
import {
  eachSays,
  EnumField,
  field,
  type FieldOptions,
  IntegerField,
  listRules,
  type NumberBounds,
  says,
  StringField,
  UuidField,
} from './fields.js';

/*
 * Fields of a query: everything there is text, so each says itself what it makes of it. A default is the
 * class's initializer: `@QueryIntegerField({ optional: true }) limit = 50`. A parameter given twice is refused.
 */

export function QueryStringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return queried(StringField(options), (text) => text);
}

export function QueryIntegerField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  return queried(IntegerField(options), (text) => (/^-?\d{1,16}$/.test(text) ? Number(text) : text));
}

export function QueryBooleanField(options: FieldOptions = {}): PropertyDecorator {
  const isBoolean = field(options, { type: 'boolean' }, IsBoolean(says('must be true or false')));
  return queried(isBoolean, (text) => (text === 'true' || text === 'false' ? text === 'true' : text));
}

export function QueryEnumField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return queried(EnumField(values, options), (text) => text);
}

export function QueryUuidField(options: FieldOptions = {}): PropertyDecorator {
  return queried(UuidField(options), (text) => text);
}

/** Ids separated by commas. */
export function QueryUuidListField({ max, ...options }: FieldOptions & { readonly max?: number } = {}): PropertyDecorator {
  const schema = { type: 'string', description: 'UUIDs separated by commas.' } as const;
  const bounds = { min: 1, ...(max !== undefined && { max }) };
  const each = IsUUID('all', eachSays('must be a UUID', isUuid));
  const isList = field(options, schema, ...listRules(bounds, 'a comma-separated list'), each);
  return queried(isList, (text) => (text === '' ? [] : text.toLowerCase().split(',')));
}

/** Stands for a parameter that was given more than once. */
const REPEATED = Symbol('repeated');

function queried(field: PropertyDecorator, read: (text: string) => unknown): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => (typeof value === 'string' ? read(value) : REPEATED)),
    rule('isGivenOnce', (value) => value !== REPEATED, { message: 'must be given once' }),
    field,
  );
}
