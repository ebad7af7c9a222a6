import { ApiExtraModels, getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  declareField,
  type DtoClass,
  type FieldDeclaration,
  type FieldOptions,
  type Report,
  type Rule,
} from './declared-field.js';
import {
  booleanRule,
  enumRule,
  type ListBounds,
  listOfObjectsRule,
  listRule,
  type MapBounds,
  type NumberBounds,
  numberRule,
  objectRule,
  scalarMapRule,
  stringMapRule,
  type TextBounds,
  textRule,
  timestampRule,
  unionRule,
  urlRule,
  uuidRule,
} from './field-rules.js';
import { isJsonObject, readDto } from './read-dto.js';

/*
 * One decorator declares a field of a request or response body: what is accepted, what is documented.
 * A field is required unless `optional`, and `null` is refused unless `nullable`. No value is coerced.
 */

export function StringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return declareField(options, { rule: textRule(options), schema: textSchema(options) });
}

/** Reads a UUID of any spelling in lower case, as ids are stored and compared. */
export function UuidField(options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, { rule: uuidRule, schema: { type: 'string', format: 'uuid' }, read: lowerCase });
}

export function UuidListField(options: FieldOptions & ListBounds = {}): PropertyDecorator {
  return declareField(options, {
    rule: listRule(uuidRule, options),
    schema: listSchema({ type: 'string', format: 'uuid' }, options),
    read: (sent) => (Array.isArray(sent) ? sent.map(lowerCase) : sent),
  });
}

export function StringListField(
  options: FieldOptions & ListBounds & { readonly each?: TextBounds } = {},
): PropertyDecorator {
  const each = options.each ?? {};
  return declareField(options, {
    rule: listRule(textRule(each), options),
    schema: listSchema(textSchema(each), options),
  });
}

export function BooleanField(options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, { rule: booleanRule, schema: { type: 'boolean' } });
}

export function IntegerField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  return declareField(options, { rule: numberRule(options, 'integer'), schema: numberSchema(options, 'integer') });
}

export function NumberField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  return declareField(options, { rule: numberRule(options, 'number'), schema: numberSchema(options, 'number') });
}

export function EnumField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, { rule: enumRule(values), schema: { type: 'string', enum: [...values] } });
}

/** A non-empty set of the values. */
export function EnumListField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  const bounds = { min: 1, unique: true };
  return declareField(options, {
    rule: listRule(enumRule(values), bounds),
    schema: listSchema({ type: 'string', enum: [...values] }, bounds),
  });
}

/** The one value that tells a variant of a union from the others. */
export function LiteralField(value: string, options: FieldOptions = {}): PropertyDecorator {
  return EnumField([value], options);
}

export function ObjectField(type: () => DtoClass, options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, {
    rule: objectRule,
    schema: { type: lazily(type) },
    read: (sent, path, report) => (isJsonObject(sent) ? readDto(type(), sent, path, report) : sent),
  });
}

export function ObjectListField(type: () => DtoClass, options: FieldOptions & ListBounds = {}): PropertyDecorator {
  return declareField(options, {
    rule: listOfObjectsRule(options),
    schema: { type: lazily(type), isArray: true, ...itemBounds(options) },
    read: (sent, path, report) => readList(sent, path, options, (item, at) => readDto(type(), item, at, report)),
  });
}

/** The classes of a union by the value of its discriminator; each declares that with `@LiteralField`. */
export type Variants = Readonly<Record<string, () => DtoClass>>;

/** An object whose `discriminator` decides its class. The variants are declared before the class that has the field. */
export function UnionField(discriminator: string, variants: Variants, options: FieldOptions = {}): PropertyDecorator {
  return declareUnion(variants, options, {
    rule: unionRule(discriminator, Object.keys(variants)),
    schema: unionSchema(discriminator, variants),
    read: (sent, path, report) => readVariant(discriminator, variants, sent, path, report),
  });
}

export function UnionListField(
  discriminator: string,
  variants: Variants,
  options: FieldOptions & ListBounds = {},
): PropertyDecorator {
  return declareUnion(variants, options, {
    rule: listRule(unionRule(discriminator, Object.keys(variants)), options),
    schema: listSchema(unionSchema(discriminator, variants), options),
    read: (sent, path, report) =>
      readList(sent, path, options, (item, at) => readVariant(discriminator, variants, item, at, report)),
  });
}

/** An object of strings whose keys the caller chooses. */
export function StringMapField(options: FieldOptions & MapBounds = {}): PropertyDecorator {
  return declareField(options, { rule: stringMapRule(options), schema: mapSchema({ type: 'string' }, options) });
}

/** An object of strings, numbers and booleans whose keys the caller chooses. */
export function ScalarMapField(options: FieldOptions & MapBounds = {}): PropertyDecorator {
  const values = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
  return declareField(options, { rule: scalarMapRule(options), schema: mapSchema(values, options) });
}

/** An object of any JSON, handed on as it is. */
export function JsonObjectField(options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, { rule: objectRule, schema: { type: 'object', additionalProperties: true } });
}

/** The generator of the document makes an object of a schema that says nothing; of this it makes what it is. */
const ANY_JSON: ApiPropertyOptions = { anyOf: [{}] };

/** Any JSON value, or an array of any, handed on as it is. */
export function JsonField(options: FieldOptions & { readonly array?: boolean } = {}): PropertyDecorator {
  const anything: Rule = () => undefined;
  return options.array
    ? declareField(options, { rule: listRule(anything, {}), schema: listSchema({}, {}) })
    : declareField(options, { rule: anything, schema: ANY_JSON });
}

/** ISO 8601 with an offset, kept as it was written. */
export function TimestampField(options: FieldOptions = {}): PropertyDecorator {
  return declareField(options, { rule: timestampRule, schema: { type: 'string', format: 'date-time' } });
}

export function UrlField(
  options: FieldOptions & { readonly protocols?: readonly string[]; readonly max?: number } = {},
): PropertyDecorator {
  const { protocols = ['https', 'http'], max = 2_048 } = options;
  return declareField(options, {
    rule: urlRule(protocols, max),
    schema: { type: 'string', format: 'uri', maxLength: max },
  });
}

/** The document's generator takes a function for a late-bound class only where its name is `type`. */
function lazily(classOf: () => DtoClass): () => DtoClass {
  const type = (): DtoClass => classOf();
  return type;
}

function lowerCase(sent: unknown): unknown {
  return typeof sent === 'string' ? sent.toLowerCase() : sent;
}

/** Reads the elements that are objects; the field's rule refuses a list that has others, or too many. */
function readList(
  sent: unknown,
  path: string,
  { max = Infinity }: ListBounds,
  readItem: (item: Record<string, unknown>, path: string) => unknown,
): unknown {
  if (!Array.isArray(sent) || sent.length > max) return sent;
  return sent.map((item: unknown, index) => (isJsonObject(item) ? readItem(item, `${path}/${index}`) : item));
}

function readVariant(discriminator: string, variants: Variants, sent: unknown, path: string, report: Report): unknown {
  if (!isJsonObject(sent)) return sent;
  const name = sent[discriminator];
  const variant = typeof name === 'string' && Object.hasOwn(variants, name) ? variants[name] : undefined;
  return variant ? readDto(variant(), sent, path, report) : sent;
}

function declareUnion(variants: Variants, options: FieldOptions, declaration: FieldDeclaration): PropertyDecorator {
  const declare = declareField(options, declaration);
  return (target, property) => {
    // The document refers to the variants by name, and finds them here.
    ApiExtraModels(...Object.values(variants).map((variant) => variant()))(target.constructor);
    declare(target, property);
  };
}

function unionSchema(discriminator: string, variants: Variants): ApiPropertyOptions {
  const mapping = Object.fromEntries(
    Object.entries(variants).map(([name, variant]) => [name, getSchemaPath(variant())]),
  );
  return {
    oneOf: [...new Set(Object.values(mapping))].map((path) => ({ $ref: path })),
    discriminator: { propertyName: discriminator, mapping },
  };
}

function textSchema({ min, max, pattern }: TextBounds): { type: 'string' } & ApiPropertyOptions {
  return {
    type: 'string',
    ...(min !== undefined && { minLength: min }),
    ...(max !== undefined && { maxLength: max }),
    ...(pattern !== undefined && { pattern: pattern.source }),
  };
}

function numberSchema({ min, max }: NumberBounds, type: 'number' | 'integer'): ApiPropertyOptions {
  return { type, ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
}

function itemBounds({ min, max, unique }: ListBounds): ApiPropertyOptions {
  return {
    ...(min !== undefined && { minItems: min }),
    ...(max !== undefined && { maxItems: max }),
    ...(unique && { uniqueItems: true }),
  };
}

function listSchema(items: object, bounds: ListBounds): ApiPropertyOptions {
  return { type: 'array', items, ...itemBounds(bounds) };
}

function mapSchema(values: object, { maxEntries }: MapBounds): ApiPropertyOptions {
  return {
    type: 'object',
    additionalProperties: values,
    ...(maxEntries !== undefined && { maxProperties: maxEntries }),
  };
}
