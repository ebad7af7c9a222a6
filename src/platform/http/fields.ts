import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsNumber,
  IsObject,
  isString,
  IsString,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import {
  HasCodePoints,
  HasOneOf,
  isJsonObject,
  IsMap,
  isText,
  IsUrlOf,
  isUuid,
  type MapBounds,
  range,
  rule,
  type TextBounds,
} from './constraints.js';
import type { DtoClass } from './plain-to-instance.js';

/*
 * One decorator declares a field of a request or response body: class-validator's rules, class-transformer's type, and
 * what is documented. A field is required unless `optional`, and `null` is refused unless `nullable`. No value is coerced.
 */

/** What every field may say, whatever its type. */
export interface FieldOptions {
  /** The field may be absent. */
  readonly optional?: boolean;
  /** The field may be `null`. */
  readonly nullable?: boolean;
  readonly description?: string;
  readonly example?: unknown;
  readonly deprecated?: boolean;
}

export interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
}

export interface ListBounds {
  readonly min?: number;
  readonly max?: number;
  /** Refuses a value that is there twice. */
  readonly unique?: boolean;
}

/** The classes of a union by the value of its discriminator; each declares that with `@LiteralField`. */
export type Variants = Readonly<Record<string, () => DtoClass>>;

/** A field that is documented as `schema`, and keeps the rules where it is neither absent nor null or must not be so. */
export function field(
  { optional = false, nullable = false, description, example, deprecated }: FieldOptions,
  schema: ApiPropertyOptions,
  ...rules: PropertyDecorator[]
): PropertyDecorator {
  const documented = {
    ...schema,
    required: !optional,
    ...(nullable && { nullable: true }),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    ...(deprecated && { deprecated: true }),
  } as ApiPropertyOptions;
  // Not `IsOptional`, to which null is as good as absent.
  const isJudged = (_dto: object, value: unknown): boolean => !(optional && value === undefined) && !(nullable && value === null);
  return applyDecorators(ApiProperty(documented), ...(optional || nullable ? [ValidateIf(isJudged)] : []), ...rules);
}

/** The message of a rule: `text` reads on from the field's path. */
export function says(text: string): ValidationOptions {
  return { message: ({ value }) => (value === undefined ? 'is required' : text) };
}

/** The message of a rule for the elements of a list; the first that is not right is named. */
export function eachSays(text: string, isRight: (item: unknown) => boolean): ValidationOptions {
  const wrongOf = (list: readonly unknown[]): number => list.findIndex((item) => !isRight(item));
  return { each: true, message: ({ value }) => `/${wrongOf(value as unknown[])}${text.startsWith('/') ? '' : ' '}${text}` };
}

type Says = typeof eachSays;

export function StringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return field(options, textSchema(options), ...textRules(options, says));
}

/** Reads a UUID of any spelling in lower case, as ids are stored and compared. */
export function UuidField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', format: 'uuid' }, LowerCase(), IsUUID('all', says('must be a UUID')));
}

export function UuidListField(options: FieldOptions & ListBounds = {}): PropertyDecorator {
  const each = IsUUID('all', eachSays('must be a UUID', isUuid));
  return listField(options, { type: 'string', format: 'uuid' }, LowerCase(), each);
}

export function StringListField(
  options: FieldOptions & ListBounds & { readonly each?: TextBounds } = {},
): PropertyDecorator {
  const each = options.each ?? {};
  return listField(options, textSchema(each), ...textRules(each, eachSays));
}

export function BooleanField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'boolean' }, IsBoolean(says('must be a boolean')));
}

export function IntegerField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
  const wanted = says(`must be an integer${numberRange(options)}`);
  return field(options, numberSchema(options, 'integer'), IsInt(wanted), Min(min, wanted), Max(max, wanted));
}

export function NumberField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  const { min, max } = options;
  const wanted = says(`must be a number${numberRange(options)}`);
  const bounds = [...(min === undefined ? [] : [Min(min, wanted)]), ...(max === undefined ? [] : [Max(max, wanted)])];
  return field(options, numberSchema(options, 'number'), IsNumber({}, wanted), ...bounds);
}

export function EnumField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', enum: [...values] }, IsIn(values, says(oneOf(values))));
}

/** A non-empty set of the values. */
export function EnumListField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  const isValue = (item: unknown): boolean => values.includes(item as string);
  const schema = { type: 'string', enum: [...values] };
  return listField({ ...options, min: 1, unique: true }, schema, IsIn(values, eachSays(oneOf(values), isValue)));
}

/** The one value that tells a variant of a union from the others. */
export function LiteralField(value: string, options: FieldOptions = {}): PropertyDecorator {
  return EnumField([value], options);
}

export function ObjectField(type: () => DtoClass, options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: lazily(type) }, Type(type), IsObject(says('must be an object')), ValidateNested());
}

export function ObjectListField(type: () => DtoClass, options: FieldOptions & ListBounds = {}): PropertyDecorator {
  const schema = { type: lazily(type), isArray: true, ...itemBounds(options) } as ApiPropertyOptions;
  return field(options, schema, Type(type), ...listRules(options), ...objectRules(eachSays), ValidateNested());
}

/** An object whose `discriminator` decides its class. The variants are declared before the class that has the field. */
export function UnionField(discriminator: string, variants: Variants, options: FieldOptions = {}): PropertyDecorator {
  const rules = unionRules(discriminator, variants, says);
  return field(options, unionSchema(discriminator, variants), ...rules);
}

export function UnionListField(
  discriminator: string,
  variants: Variants,
  options: FieldOptions & ListBounds = {},
): PropertyDecorator {
  return listField(options, unionSchema(discriminator, variants), ...unionRules(discriminator, variants, eachSays));
}

/** An object of strings whose keys the caller chooses. */
export function StringMapField(options: FieldOptions & MapBounds = {}): PropertyDecorator {
  const { maxValueLength: max = MAX_MAP_VALUE } = options;
  const complaint = (value: unknown) => (isText(value, { max }) ? undefined : `must be a string of at most ${max} characters`);
  return field(options, mapSchema({ type: 'string' }, options), IsMap('must be an object of strings', options, complaint));
}

/** An object of strings, numbers and booleans whose keys the caller chooses. */
export function ScalarMapField(options: FieldOptions & MapBounds = {}): PropertyDecorator {
  const { maxValueLength: max = MAX_MAP_VALUE } = options;
  const complaint = (value: unknown) =>
    typeof value === 'boolean' || Number.isFinite(value) || isText(value, { max })
      ? undefined
      : `must be a string of at most ${max} characters, a number or a boolean`;
  const values = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
  return field(options, mapSchema(values, options), IsMap('must be an object of strings, numbers and booleans', options, complaint));
}

/** An object of any JSON, handed on as it is. */
export function JsonObjectField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'object', additionalProperties: true }, IsObject(says('must be an object')));
}

/** Any JSON value, or an array of any, handed on as it is. */
export function JsonField(options: FieldOptions & { readonly array?: boolean } = {}): PropertyDecorator {
  if (options.array) return listField(options, {});
  // The generator of the document makes an object of a schema that says nothing; of this it makes what it is.
  return field(options, { anyOf: [{}] }, rule('isPresent', (value) => value !== undefined, says('')));
}

/** ISO 8601 with an offset, kept as it was written. */
export function TimestampField(options: FieldOptions = {}): PropertyDecorator {
  const wanted = says('must be an ISO 8601 date and time with an offset, such as 2025-01-31T09:30:00Z');
  const schema = { type: 'string', format: 'date-time' } as const;
  return field(options, schema, Matches(TIMESTAMP, wanted), IsISO8601({ strict: true }, wanted));
}

export function UrlField(
  options: FieldOptions & { readonly protocols?: readonly string[]; readonly max?: number } = {},
): PropertyDecorator {
  const { protocols = ['https', 'http'], max = 2_048 } = options;
  const wanted = says(`must be an absolute ${protocols.join(' or ')} URL of at most ${max} characters`);
  return field(options, { type: 'string', format: 'uri', maxLength: max }, IsUrlOf(protocols, max, wanted));
}

/** The field is accepted whatever it holds, and forgotten. */
export function IgnoredField(): PropertyDecorator {
  return applyDecorators(Allow(), Transform(() => undefined));
}

const MAX_MAP_VALUE = 10_000;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function LowerCase(): PropertyDecorator {
  const lowerCase = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);
  return Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(lowerCase) : lowerCase(value)));
}

function listField(options: FieldOptions & ListBounds, items: object, ...each: PropertyDecorator[]): PropertyDecorator {
  const schema = { type: 'array', items, ...itemBounds(options) } as ApiPropertyOptions;
  return field(options, schema, ...listRules(options), ...each, ...(options.unique ? [IsSet()] : []));
}

/** Unlike class-validator's `ArrayUnique`, which compares each element with each. */
function IsSet(): PropertyDecorator {
  const isSet = (value: unknown): boolean => Array.isArray(value) && new Set(value).size === value.length;
  return rule('isSet', isSet, says('must not contain a value twice'));
}

/** Of a list itself; they come before the rules of its elements, so that nobody looks at too many. */
export function listRules({ min, max }: ListBounds, kind = 'an array'): PropertyDecorator[] {
  const wanted = says(`must be ${kind}${range('item', { min, max })}`);
  const bounds = [...(min === undefined ? [] : [ArrayMinSize(min, wanted)]), ...(max === undefined ? [] : [ArrayMaxSize(max, wanted)])];
  return [IsArray(wanted), ...bounds];
}

function textRules(bounds: TextBounds, says: Says): PropertyDecorator[] {
  const { min, max, pattern } = bounds;
  const wanted = `must be a string${range('character', bounds)}`;
  return [
    IsString(says(wanted, isString)),
    ...(min === undefined && max === undefined ? [] : [HasCodePoints(bounds, says(wanted, (item) => isText(item, bounds)))]),
    ...(pattern ? [Matches(pattern, says(`must match ${String(pattern)}`, (item) => pattern.test(item as string)))] : []),
  ];
}

function objectRules(says: Says): PropertyDecorator[] {
  return [IsObject(says('must be an object', isJsonObject))];
}

function unionRules(discriminator: string, variants: Variants, says: Says): PropertyDecorator[] {
  const names = Object.keys(variants);
  const subTypes = Object.entries(variants).map(([name, type]) => ({ name, value: type() }));
  const isKnown = (item: unknown): boolean => isJsonObject(item) && names.includes(item[discriminator] as string);
  return [
    Type(() => Object, { keepDiscriminatorProperty: true, discriminator: { property: discriminator, subTypes } }),
    // The document refers to the variants by name, and finds them here.
    (target) => ApiExtraModels(...subTypes.map(({ value }) => value))(target.constructor),
    ...objectRules(says),
    HasOneOf(discriminator, names, says(`/${discriminator} ${oneOf(names)}`, isKnown)),
    ValidateNested(),
  ];
}

/** The document's generator takes a function for a late-bound class only where its name is `type`. */
function lazily(classOf: () => DtoClass): () => DtoClass {
  const type = (): DtoClass => classOf();
  return type;
}

function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `must be '${values[0] ?? ''}'` : `must be one of ${values.join(', ')}`;
}

function numberRange({ min = -Infinity, max = Infinity }: NumberBounds): string {
  if (max === Infinity) return min === -Infinity ? '' : ` of at least ${min}`;
  return min === -Infinity ? ` of at most ${max}` : ` from ${min} to ${max}`;
}

function unionSchema(discriminator: string, variants: Variants): ApiPropertyOptions {
  const mapping = Object.fromEntries(Object.entries(variants).map(([name, variant]) => [name, getSchemaPath(variant())]));
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

function mapSchema(values: object, { maxEntries }: MapBounds): ApiPropertyOptions {
  return { type: 'object', additionalProperties: values, ...(maxEntries !== undefined && { maxProperties: maxEntries }) };
}
