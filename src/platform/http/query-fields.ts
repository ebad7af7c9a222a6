import type { ApiPropertyOptions } from '@nestjs/swagger';
import { declareField, type FieldOptions, type Rule } from './declared-field.js';
import {
  booleanRule,
  enumRule,
  listRule,
  type NumberBounds,
  numberRule,
  type TextBounds,
  textRule,
  uuidRule,
} from './field-rules.js';

/*
 * Fields of a query: everything there is text, so each says itself what it makes of it. A default is the
 * class's initializer: `@QueryIntegerField({ optional: true }) limit = 50`. A parameter given twice is refused.
 */

export function QueryStringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  const { min, max } = options;
  const schema = {
    type: 'string',
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
  } as const;
  return declareQueryField(options, textRule(options), schema, (text) => text);
}

export function QueryIntegerField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  const { min, max } = options;
  const schema = {
    type: 'integer',
    ...(min !== undefined && { minimum: min }),
    ...(max !== undefined && { maximum: max }),
  } as const;
  return declareQueryField(options, numberRule(options, 'integer'), schema, (text) =>
    /^-?\d{1,16}$/.test(text) ? Number(text) : text,
  );
}

export function QueryBooleanField(options: FieldOptions = {}): PropertyDecorator {
  const rule: Rule = (value) => (booleanRule(value) === undefined ? undefined : 'must be true or false');
  const values: Readonly<Record<string, boolean>> = { true: true, false: false };
  return declareQueryField(options, rule, { type: 'boolean' }, (text) =>
    Object.hasOwn(values, text) ? values[text] : text,
  );
}

export function QueryEnumField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return declareQueryField(options, enumRule(values), { type: 'string', enum: [...values] }, (text) => text);
}

export function QueryUuidField(options: FieldOptions = {}): PropertyDecorator {
  return declareQueryField(options, uuidRule, { type: 'string', format: 'uuid' }, (text) => text.toLowerCase());
}

/** Ids separated by commas. */
export function QueryUuidListField(options: FieldOptions & { readonly max?: number } = {}): PropertyDecorator {
  const rule = listRule(uuidRule, { min: 1, ...(options.max !== undefined && { max: options.max }) });
  const schema = { type: 'string', description: 'UUIDs separated by commas.' } as const;
  const wording: Rule = (value) => rule(value)?.replace('must be an array of', 'must be a comma-separated list of');
  return declareQueryField(options, wording, schema, (text) => (text === '' ? [] : text.toLowerCase().split(',')));
}

/** Stands for a parameter that was given more than once. */
const REPEATED = Symbol('repeated');

function declareQueryField(
  options: FieldOptions,
  rule: Rule,
  schema: ApiPropertyOptions,
  read: (text: string) => unknown,
): PropertyDecorator {
  return declareField(options, {
    rule: (value) => (value === REPEATED ? 'must be given once' : rule(value)),
    schema,
    read: (sent) => (typeof sent === 'string' ? read(sent) : REPEATED),
  });
}
