import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
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
import { isUuid } from '../ids/index.js';
import {
  type Bounds,
  isDate,
  isJsonObject,
  IsMap,
  isText,
  isTimestamp,
  type MapBounds,
  type NumberBounds,
  range,
  rule,
  type TextBounds,
} from './constraints.js';
import type { DtoClass } from './plain-to-instance.js';

/*
 * One decorator declares a field of a request or response: class-validator's rules, class-transformer's type, and the property
 * of the OpenAPI document. A field is required unless `optional`, and `null` is refused unless `nullable`. No value is coerced.
 */

export interface FieldOptions {
  /** The field may be absent. */
  readonly optional?: boolean;
  /** The field may be `null`. */
  readonly nullable?: boolean;
  readonly description?: string;
  readonly example?: unknown;
}

export interface ListBounds extends Bounds {
  /** Refuses a value that the list contains twice. */
  readonly unique?: boolean;
}

/** The classes of a union by the value of its discriminator, which each class declares with `@LiteralField`. */
export type Variants = Readonly<Record<string, () => DtoClass>>;

/** A field with these rules, which do not apply to an allowed absence or null. @param schema of OpenAPI */
export function field(options: FieldOptions, schema: object, ...rules: PropertyDecorator[]): PropertyDecorator {
  const { optional = false, nullable = false, description, example } = options;
  const documented = { ...schema, required: !optional, nullable: nullable || undefined, description, example };
  // Not `IsOptional`, which accepts null like an absent field.
  const isValidated = (_dto: object, value: unknown): boolean =>
    !(optional && value === undefined) && !(nullable && value === null);
  const condition = optional || nullable ? [ValidateIf(isValidated)] : [];
  return applyDecorators(ApiProperty(documented), ...condition, ...rules);
}

/** The message of a rule; `text` follows the field's path. */
export function withMessage(text: string): ValidationOptions {
  return { message: ({ value }) => (value === undefined ? 'is required' : text) };
}

/** The message of a rule for the items of a list; it names the first invalid item. */
export function withItemMessage(text: string, isValid: (item: unknown) => boolean): ValidationOptions {
  const firstInvalid = (list: readonly unknown[]): number => list.findIndex((item) => !isValid(item));
  return {
    each: true,
    message: ({ value }) => `/${firstInvalid(value as unknown[])}${text.startsWith('/') ? '' : ' '}${text}`,
  };
}

type Message = typeof withItemMessage;

const UUID = { type: 'string', format: 'uuid' };

export function StringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return field(options, textSchema(options), ...textRules(options, withMessage));
}

/** The DTO has the UUID in lower case, as ids are stored and compared. */
export function UuidField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, UUID, LowerCase(), IsUUID('all', withMessage('must be a UUID')));
}

export function UuidListField(options: FieldOptions & ListBounds = {}): PropertyDecorator {
  return listField(options, UUID, LowerCase(), IsUUID('all', withItemMessage('must be a UUID', isUuid)));
}

export function StringListField(
  options: FieldOptions & ListBounds & { readonly each?: TextBounds } = {},
): PropertyDecorator {
  const each = options.each ?? {};
  return listField(options, textSchema(each), ...textRules(each, withItemMessage));
}

export function BooleanField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'boolean' }, IsBoolean(withMessage('must be a boolean')));
}

export function IntegerField(options: FieldOptions & Bounds = {}): PropertyDecorator {
  // Beyond these, class-validator accepts any number as an integer, such as 1e300.
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
  const wanted = withMessage(`must be an integer${range(options)}`);
  const schema = { type: 'integer', minimum: options.min, maximum: options.max };
  return field(options, schema, IsInt(wanted), Min(min, wanted), Max(max, wanted));
}

export function NumberField(options: FieldOptions & NumberBounds = {}): PropertyDecorator {
  const { min = -Infinity, max = Infinity, above } = options;
  const wanted = withMessage(`must be a number${range(options)}`);
  const schema = { type: 'number', minimum: options.min, maximum: options.max, exclusiveMinimum: above };
  const isAbove = (value: unknown): boolean => above === undefined || Number(value) > above;
  return field(
    options,
    schema,
    ...[IsNumber({}, wanted), Min(min, wanted), Max(max, wanted), rule('isAbove', isAbove, wanted)],
  );
}

export function EnumField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', enum: [...values] }, IsIn(values, withMessage(oneOf(values))));
}

/** A list of the values; by default neither empty nor with duplicates. */
export function EnumListField(values: readonly string[], options: FieldOptions & ListBounds = {}): PropertyDecorator {
  const isValue = (item: unknown): boolean => values.includes(item as string);
  const schema = { type: 'string', enum: [...values] };
  return listField({ min: 1, unique: true, ...options }, schema, IsIn(values, withItemMessage(oneOf(values), isValue)));
}

/** The value that identifies a variant of a union. */
export function LiteralField(value: string, options: FieldOptions = {}): PropertyDecorator {
  return EnumField([value], options);
}

export function ObjectField(type: () => DtoClass, options: FieldOptions = {}): PropertyDecorator {
  return field(
    options,
    { type: lazily(type) },
    Type(type),
    IsObject(withMessage('must be an object')),
    ValidateNested(),
  );
}

export function ObjectListField(type: () => DtoClass, options: FieldOptions & ListBounds = {}): PropertyDecorator {
  const schema = { type: lazily(type), isArray: true, ...itemBounds(options) };
  const each = IsObject(withItemMessage('must be an object', isJsonObject));
  return field(options, schema, Type(type), ...listRules(options), each, ValidateNested());
}

/** An object whose `discriminator` decides its class. Declare the variants before the class that has the field. */
export function UnionField(discriminator: string, variants: Variants, options: FieldOptions = {}): PropertyDecorator {
  return field(options, unionSchema(discriminator, variants), ...unionRules(discriminator, variants, withMessage));
}

export function UnionListField(
  discriminator: string,
  variants: Variants,
  options: FieldOptions & ListBounds = {},
): PropertyDecorator {
  return listField(
    options,
    unionSchema(discriminator, variants),
    ...unionRules(discriminator, variants, withItemMessage),
  );
}

/** An object of strings whose keys the caller chooses. */
export function StringMapField(options: FieldOptions & MapBounds = {}): PropertyDecorator {
  const { maxValueLength: max = MAX_MAP_VALUE } = options;
  const faultOf = (value: unknown) =>
    isText(value, { max }) ? undefined : `must be a string of at most ${max} characters`;
  const schema = { type: 'object', additionalProperties: { type: 'string' }, maxProperties: options.maxEntries };
  return field(options, schema, IsMap('must be an object of strings', options, faultOf));
}

/** An object of strings, numbers and booleans whose keys the caller chooses. */
export function ScalarMapField(options: FieldOptions & MapBounds = {}): PropertyDecorator {
  const { maxValueLength: max = MAX_MAP_VALUE } = options;
  const faultOf = (value: unknown) =>
    typeof value === 'boolean' || Number.isFinite(value) || isText(value, { max })
      ? undefined
      : `must be a string of at most ${max} characters, a number or a boolean`;
  const values = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
  const schema = { type: 'object', additionalProperties: values, maxProperties: options.maxEntries };
  return field(options, schema, IsMap('must be an object of strings, numbers and booleans', options, faultOf));
}

/** An object of any JSON, passed on unchanged. */
export function JsonObjectField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'object', additionalProperties: true }, IsObject(withMessage('must be an object')));
}

/** Any JSON value, or an array of any values, passed on unchanged. */
export function JsonField(options: FieldOptions & { readonly array?: boolean } = {}): PropertyDecorator {
  if (options.array) return listField(options, {});
  // @nestjs/swagger turns an empty schema into that of an object.
  return field(
    options,
    { anyOf: [{}] },
    rule('isPresent', (value) => value !== undefined, withMessage('')),
  );
}

/** ISO 8601 with an offset, kept as the caller wrote it. */
export function TimestampField(options: FieldOptions = {}): PropertyDecorator {
  const wanted = withMessage('must be an ISO 8601 date and time with an offset, such as 2025-01-31T09:30:00Z');
  return field(options, { type: 'string', format: 'date-time' }, rule('isTimestamp', isTimestamp, wanted));
}

export interface UrlBounds {
  readonly protocols?: readonly string[];
  readonly max?: number;
  /** Refuses user information, and the spaces and line ends that URL parsers drop. */
  readonly plain?: boolean;
}

export function UrlField(options: FieldOptions & UrlBounds = {}): PropertyDecorator {
  const { protocols = ['https', 'http'], max = 2_048, plain = false } = options;
  const without = plain ? ', without user information, spaces and control characters' : '';
  const wanted = withMessage(
    `must be an absolute ${protocols.join(' or ')} URL of at most ${max} characters${without}`,
  );
  const isUrl = (value: unknown): boolean => {
    const url = typeof value === 'string' && value.length <= max ? URL.parse(value) : null;
    if (url === null || !protocols.includes(url.protocol.slice(0, -1))) return false;
    return !plain || (url.username === '' && url.password === '' && !/[\s\p{Cc}]/u.test(value as string));
  };
  return field(options, { type: 'string', format: 'uri', maxLength: max }, rule('isUrl', isUrl, wanted));
}

/** An ISO 8601 date, or a date and time with an offset. */
export function DateOrTimestampField(options: FieldOptions = {}): PropertyDecorator {
  const wanted = withMessage('must be an ISO 8601 date, such as 2025-01-31, or a date and time with an offset');
  const isEither = (value: unknown): boolean => isTimestamp(value) || isDate(value);
  return field(options, { type: 'string' }, rule('isDateOrTimestamp', isEither, wanted));
}

/** The request may contain the field with any value; the DTO never has it. */
export function IgnoredField(): PropertyDecorator {
  return applyDecorators(
    Allow(),
    Transform(() => undefined),
  );
}

/*
 * Fields of a query, whose values are all text: each converts its own. A default is the class's initializer:
 * `@QueryIntegerField({ optional: true }) limit = 50`. A parameter given twice is refused.
 */

export function QueryStringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return queryField(StringField(options), (text) => text);
}

export function QueryIntegerField(options: FieldOptions & Bounds = {}): PropertyDecorator {
  return queryField(IntegerField(options), (text) => (/^-?\d{1,16}$/.test(text) ? Number(text) : text));
}

export function QueryBooleanField(options: FieldOptions = {}): PropertyDecorator {
  const isBoolean = field(options, { type: 'boolean' }, IsBoolean(withMessage('must be true or false')));
  return queryField(isBoolean, (text) => (text === 'true' || text === 'false' ? text === 'true' : text));
}

export function QueryUuidField(options: FieldOptions = {}): PropertyDecorator {
  return queryField(UuidField(options), (text) => text);
}

/** Ids separated by commas. */
export function QueryUuidListField(options: FieldOptions & { readonly max?: number } = {}): PropertyDecorator {
  const rules = listRules({ ...options, min: 1 }, 'a comma-separated list');
  const each = IsUUID('all', withItemMessage('must be a UUID', isUuid));
  const isList = field({ description: 'UUIDs separated by commas.', ...options }, { type: 'string' }, ...rules, each);
  return queryField(isList, (text) => (text === '' ? [] : text.toLowerCase().split(',')));
}

/** Values of the list, separated by commas. */
export function QueryEnumListField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  const rules = listRules({ min: 1 }, 'a comma-separated list');
  const each = IsIn(
    values,
    withItemMessage(oneOf(values), (item) => values.includes(item as string)),
  );
  const isList = field(options, { type: 'string' }, ...rules, each);
  return queryField(isList, (text) => (text === '' ? [] : text.split(',')));
}

/** The value of a parameter that was given more than once. */
const REPEATED = Symbol('repeated');

function queryField(declared: PropertyDecorator, read: (text: string) => unknown): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }) => (typeof value === 'string' ? read(value) : REPEATED)),
    rule('isGivenOnce', (value) => value !== REPEATED, { message: 'must be given once' }),
    declared,
  );
}

const MAX_MAP_VALUE = 10_000;

function LowerCase(): PropertyDecorator {
  const lowerCase = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value);
  return Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(lowerCase) : lowerCase(value)));
}

function listField(options: FieldOptions & ListBounds, items: object, ...each: PropertyDecorator[]): PropertyDecorator {
  const rules = [...listRules(options), ...each, ...(options.unique ? [IsSet()] : [])];
  return field(options, { type: 'array', items, ...itemBounds(options) }, ...rules);
}

/** Unlike class-validator's `ArrayUnique`, which compares every pair. */
function IsSet(): PropertyDecorator {
  const isSet = (value: unknown): boolean => Array.isArray(value) && new Set(value).size === value.length;
  return rule('isSet', isSet, withMessage('must not contain a value twice'));
}

/** Rules of the list itself. They precede the rules of its items, so that the items of a list that is too long are not checked. */
function listRules(bounds: ListBounds, kind = 'an array'): PropertyDecorator[] {
  const { min = 0, max = Infinity } = bounds;
  const wanted = withMessage(`must be ${kind}${range(bounds, 'item')}`);
  return [IsArray(wanted), ArrayMinSize(min, wanted), ArrayMaxSize(max, wanted)];
}

function textRules(bounds: TextBounds, message: Message): PropertyDecorator[] {
  const { pattern } = bounds;
  const wanted = `must be a string${range(bounds, 'character')}`;
  const fits = (item: unknown): boolean => isText(item, bounds);
  const isBounded = bounds.min !== undefined || bounds.max !== undefined;
  return [
    IsString(message(wanted, isString)),
    ...(isBounded ? [rule('hasCodePoints', fits, message(wanted, fits))] : []),
    ...(pattern
      ? [
          Matches(
            pattern,
            message(`must match ${String(pattern)}`, (item) => pattern.test(item as string)),
          ),
        ]
      : []),
  ];
}

function unionRules(discriminator: string, variants: Variants, message: Message): PropertyDecorator[] {
  const names = Object.keys(variants);
  const subTypes = Object.entries(variants).map(([name, type]) => ({ name, value: type() }));
  const isKnown = (item: unknown): boolean => isJsonObject(item) && names.includes(item[discriminator] as string);
  return [
    Type(() => Object, { keepDiscriminatorProperty: true, discriminator: { property: discriminator, subTypes } }),
    // The document refers to the variants by name.
    (target) => {
      ApiExtraModels(...subTypes.map(({ value }) => value))(target.constructor);
    },
    IsObject(message('must be an object', isJsonObject)),
    rule('isVariant', isKnown, message(`/${discriminator} ${oneOf(names)}`, isKnown)),
    ValidateNested(),
  ];
}

/**
 * @nestjs/swagger takes a function for a late-bound class only if its name is `type`. The bundle keeps the name of a function
 * declaration, and removes the name that an arrow function gets from its variable.
 */
function lazily(classOf: () => DtoClass): () => DtoClass {
  function type(): DtoClass {
    return classOf();
  }
  return type;
}

/** The text of a message, after the name of a field. */
export function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `must be '${values[0] ?? ''}'` : `must be one of ${values.join(', ')}`;
}

/** The schema of a union; declare its variants as extra models. */
export function unionSchema(discriminator: string, variants: Variants): object {
  const mapping = Object.fromEntries(
    Object.entries(variants).map(([name, variant]) => [name, getSchemaPath(variant())]),
  );
  return {
    oneOf: [...new Set(Object.values(mapping))].map((path) => ({ $ref: path })),
    discriminator: { propertyName: discriminator, mapping },
  };
}

function textSchema({ min, max, pattern }: TextBounds): object {
  return { type: 'string', minLength: min, maxLength: max, pattern: pattern?.source };
}

function itemBounds({ min, max, unique }: ListBounds): object {
  return { minItems: min, maxItems: max, uniqueItems: unique };
}
