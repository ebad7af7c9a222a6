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
} from 'class-validator';
import {
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
  range,
  rule,
  type TextBounds,
} from './constraints.js';
import type { DtoClass } from './plain-to-instance.js';

/*
 * One decorator declares a field of a request or response: class-validator's rules, class-transformer's type, and what is
 * documented. A field is required unless `optional`, and `null` is refused unless `nullable`. No value is coerced.
 */

/** What every field may say, whatever its type. */
export interface FieldOptions {
  /** The field may be absent. */
  readonly optional?: boolean;
  /** The field may be `null`. */
  readonly nullable?: boolean;
  readonly description?: string;
  readonly example?: unknown;
}

export interface ListBounds extends Bounds {
  /** Refuses a value that is there twice. */
  readonly unique?: boolean;
}

/** The classes of a union by the value of its discriminator; each declares that with `@LiteralField`. */
export type Variants = Readonly<Record<string, () => DtoClass>>;

/** A field of these rules, which need not hold where it may be absent, or null, and is. @param schema of OpenAPI */
export function field(options: FieldOptions, schema: object, ...rules: PropertyDecorator[]): PropertyDecorator {
  const { optional = false, nullable = false, description, example } = options;
  const documented = { ...schema, required: !optional, nullable: nullable || undefined, description, example };
  // Not `IsOptional`, to which null is as good as absent.
  const isJudged = (_dto: object, value: unknown): boolean =>
    !(optional && value === undefined) && !(nullable && value === null);
  const condition = optional || nullable ? [ValidateIf(isJudged)] : [];
  return applyDecorators(ApiProperty(documented), ...condition, ...rules);
}

/** The message of a rule: `text` reads on from the field's path. */
export function says(text: string): ValidationOptions {
  return { message: ({ value }) => (value === undefined ? 'is required' : text) };
}

/** The message of a rule for the elements of a list; it names the first that is not right. */
export function eachSays(text: string, isRight: (item: unknown) => boolean): ValidationOptions {
  const wrongOf = (list: readonly unknown[]): number => list.findIndex((item) => !isRight(item));
  return {
    each: true,
    message: ({ value }) => `/${wrongOf(value as unknown[])}${text.startsWith('/') ? '' : ' '}${text}`,
  };
}

type Says = typeof eachSays;

const UUID = { type: 'string', format: 'uuid' };

export function StringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return field(options, textSchema(options), ...textRules(options, says));
}

/** Reads a UUID of any spelling in lower case, as ids are stored and compared. */
export function UuidField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, UUID, LowerCase(), IsUUID('all', says('must be a UUID')));
}

export function UuidListField(options: FieldOptions & ListBounds = {}): PropertyDecorator {
  return listField(options, UUID, LowerCase(), IsUUID('all', eachSays('must be a UUID', isUuid)));
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

export function IntegerField(options: FieldOptions & Bounds = {}): PropertyDecorator {
  // Beyond these class-validator takes any number for an integer, 1e300 too.
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = options;
  const wanted = says(`must be an integer${range(options)}`);
  const schema = { type: 'integer', minimum: options.min, maximum: options.max };
  return field(options, schema, IsInt(wanted), Min(min, wanted), Max(max, wanted));
}

export function NumberField(options: FieldOptions & Bounds = {}): PropertyDecorator {
  const { min = -Infinity, max = Infinity } = options;
  const wanted = says(`must be a number${range(options)}`);
  const schema = { type: 'number', minimum: options.min, maximum: options.max };
  return field(options, schema, IsNumber({}, wanted), Min(min, wanted), Max(max, wanted));
}

export function EnumField(values: readonly string[], options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'string', enum: [...values] }, IsIn(values, says(oneOf(values))));
}

/** A list of the values: without duplicates and not empty, unless the options say otherwise. */
export function EnumListField(values: readonly string[], options: FieldOptions & ListBounds = {}): PropertyDecorator {
  const isValue = (item: unknown): boolean => values.includes(item as string);
  const schema = { type: 'string', enum: [...values] };
  return listField({ min: 1, unique: true, ...options }, schema, IsIn(values, eachSays(oneOf(values), isValue)));
}

/** The one value that tells a variant of a union from the others. */
export function LiteralField(value: string, options: FieldOptions = {}): PropertyDecorator {
  return EnumField([value], options);
}

export function ObjectField(type: () => DtoClass, options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: lazily(type) }, Type(type), IsObject(says('must be an object')), ValidateNested());
}

export function ObjectListField(type: () => DtoClass, options: FieldOptions & ListBounds = {}): PropertyDecorator {
  const schema = { type: lazily(type), isArray: true, ...itemBounds(options) };
  const each = IsObject(eachSays('must be an object', isJsonObject));
  return field(options, schema, Type(type), ...listRules(options), each, ValidateNested());
}

/** An object whose `discriminator` decides its class. The variants are declared before the class that has the field. */
export function UnionField(discriminator: string, variants: Variants, options: FieldOptions = {}): PropertyDecorator {
  return field(options, unionSchema(discriminator, variants), ...unionRules(discriminator, variants, says));
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

/** An object of any JSON, handed on as it is. */
export function JsonObjectField(options: FieldOptions = {}): PropertyDecorator {
  return field(options, { type: 'object', additionalProperties: true }, IsObject(says('must be an object')));
}

/** Any JSON value, or an array of any, handed on as it is. */
export function JsonField(options: FieldOptions & { readonly array?: boolean } = {}): PropertyDecorator {
  if (options.array) return listField(options, {});
  // The generator of the document makes an object of a schema that says nothing; of this it makes what it is.
  return field(
    options,
    { anyOf: [{}] },
    rule('isPresent', (value) => value !== undefined, says('')),
  );
}

/** ISO 8601 with an offset, kept as it was written. */
export function TimestampField(options: FieldOptions = {}): PropertyDecorator {
  const wanted = says('must be an ISO 8601 date and time with an offset, such as 2025-01-31T09:30:00Z');
  return field(options, { type: 'string', format: 'date-time' }, rule('isTimestamp', isTimestamp, wanted));
}

export interface UrlBounds {
  readonly protocols?: readonly string[];
  readonly max?: number;
  /** Written as it is used: without user information, and without the spaces and line ends that parsers drop. */
  readonly plain?: boolean;
}

export function UrlField(options: FieldOptions & UrlBounds = {}): PropertyDecorator {
  const { protocols = ['https', 'http'], max = 2_048, plain = false } = options;
  const without = plain ? ', without user information, spaces and control characters' : '';
  const wanted = says(`must be an absolute ${protocols.join(' or ')} URL of at most ${max} characters${without}`);
  const isUrl = (value: unknown): boolean => {
    const url = typeof value === 'string' && value.length <= max ? URL.parse(value) : null;
    if (url === null || !protocols.includes(url.protocol.slice(0, -1))) return false;
    return !plain || (url.username === '' && url.password === '' && !/[\s\p{Cc}]/u.test(value as string));
  };
  return field(options, { type: 'string', format: 'uri', maxLength: max }, rule('isUrl', isUrl, wanted));
}

/** A day, or a moment. */
export function DateOrTimestampField(options: FieldOptions = {}): PropertyDecorator {
  const wanted = says('must be an ISO 8601 date, such as 2025-01-31, or a date and time with an offset');
  const isEither = (value: unknown): boolean => isTimestamp(value) || isDate(value);
  return field(options, { type: 'string' }, rule('isDateOrTimestamp', isEither, wanted));
}

/** The field is accepted whatever it holds, and forgotten. */
export function IgnoredField(): PropertyDecorator {
  return applyDecorators(
    Allow(),
    Transform(() => undefined),
  );
}

/*
 * Fields of a query: everything there is text, so each says itself what it makes of it. A default is the
 * class's initializer: `@QueryIntegerField({ optional: true }) limit = 50`. A parameter given twice is refused.
 */

export function QueryStringField(options: FieldOptions & TextBounds = {}): PropertyDecorator {
  return queried(StringField(options), (text) => text);
}

export function QueryIntegerField(options: FieldOptions & Bounds = {}): PropertyDecorator {
  return queried(IntegerField(options), (text) => (/^-?\d{1,16}$/.test(text) ? Number(text) : text));
}

export function QueryBooleanField(options: FieldOptions = {}): PropertyDecorator {
  const isBoolean = field(options, { type: 'boolean' }, IsBoolean(says('must be true or false')));
  return queried(isBoolean, (text) => (text === 'true' || text === 'false' ? text === 'true' : text));
}

export function QueryUuidField(options: FieldOptions = {}): PropertyDecorator {
  return queried(UuidField(options), (text) => text);
}

/** Ids separated by commas. */
export function QueryUuidListField(options: FieldOptions & { readonly max?: number } = {}): PropertyDecorator {
  const rules = listRules({ ...options, min: 1 }, 'a comma-separated list');
  const each = IsUUID('all', eachSays('must be a UUID', isUuid));
  const isList = field({ description: 'UUIDs separated by commas.', ...options }, { type: 'string' }, ...rules, each);
  return queried(isList, (text) => (text === '' ? [] : text.toLowerCase().split(',')));
}

/** Stands for a parameter that was given more than once. */
const REPEATED = Symbol('repeated');

function queried(declared: PropertyDecorator, read: (text: string) => unknown): PropertyDecorator {
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

/** Unlike class-validator's `ArrayUnique`, which compares each element with each. */
function IsSet(): PropertyDecorator {
  const isSet = (value: unknown): boolean => Array.isArray(value) && new Set(value).size === value.length;
  return rule('isSet', isSet, says('must not contain a value twice'));
}

/** Rules of the list itself. They come before the rules of its elements, so that a list that is too long is not read. */
function listRules(bounds: ListBounds, kind = 'an array'): PropertyDecorator[] {
  const { min = 0, max = Infinity } = bounds;
  const wanted = says(`must be ${kind}${range(bounds, 'item')}`);
  return [IsArray(wanted), ArrayMinSize(min, wanted), ArrayMaxSize(max, wanted)];
}

function textRules(bounds: TextBounds, says: Says): PropertyDecorator[] {
  const { pattern } = bounds;
  const wanted = `must be a string${range(bounds, 'character')}`;
  const fits = (item: unknown): boolean => isText(item, bounds);
  const isBounded = bounds.min !== undefined || bounds.max !== undefined;
  return [
    IsString(says(wanted, isString)),
    ...(isBounded ? [rule('hasCodePoints', fits, says(wanted, fits))] : []),
    ...(pattern
      ? [
          Matches(
            pattern,
            says(`must match ${String(pattern)}`, (item) => pattern.test(item as string)),
          ),
        ]
      : []),
  ];
}

function unionRules(discriminator: string, variants: Variants, says: Says): PropertyDecorator[] {
  const names = Object.keys(variants);
  const subTypes = Object.entries(variants).map(([name, type]) => ({ name, value: type() }));
  const isKnown = (item: unknown): boolean => isJsonObject(item) && names.includes(item[discriminator] as string);
  return [
    Type(() => Object, { keepDiscriminatorProperty: true, discriminator: { property: discriminator, subTypes } }),
    // The document refers to the variants by name, and finds them here.
    (target) => {
      ApiExtraModels(...subTypes.map(({ value }) => value))(target.constructor);
    },
    IsObject(says('must be an object', isJsonObject)),
    rule('isVariant', isKnown, says(`/${discriminator} ${oneOf(names)}`, isKnown)),
    ValidateNested(),
  ];
}

/** The document's generator takes a function for a late-bound class only where its name is `type`. */
function lazily(classOf: () => DtoClass): () => DtoClass {
  const type = (): DtoClass => classOf();
  return type;
}

/** Reads on from the name of a field. */
export function oneOf(values: readonly string[]): string {
  return values.length === 1 ? `must be '${values[0] ?? ''}'` : `must be one of ${values.join(', ')}`;
}

/** A union as the document has it; its variants are declared as further models where it stands. */
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
