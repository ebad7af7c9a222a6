import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';

/** Notes that `path` of the request is wrong; `complaint` reads on from it (`must be a string`). */
export type Report = (path: string, complaint: string) => void;

/**
 * What is wrong with a value, or undefined. Reads on from the field's path (`must be a string`), and
 * starts with `/` where it is about something inside (`/0 must be a UUID`).
 */
export type Rule = (value: unknown) => string | undefined;

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

export interface FieldDeclaration {
  readonly rule: Rule;
  readonly schema: ApiPropertyOptions;
  /** Makes the value that the rule then judges and the handler gets; without it both get what was sent. */
  readonly read?: (sent: unknown, path: string, report: Report) => unknown;
}

export type DtoClass = new () => object;

interface ReadableField {
  readonly read: FieldDeclaration['read'];
  readonly ignored: boolean;
}

const FIELDS = Symbol('http:fields');
const IGNORE_UNKNOWN = Symbol('http:ignore-unknown-fields');

/** Declares a field of a DTO: how it is read, checked and documented. */
export function declareField(options: FieldOptions, { rule, schema, read }: FieldDeclaration): PropertyDecorator {
  const judge: Rule = (value) => {
    if (value === undefined) return options.optional ? undefined : 'is required';
    return value === null && options.nullable ? undefined : rule(value);
  };
  // The library asks whether a value is wrong, and at once again what is wrong with it.
  let complaint: string | undefined;
  const api = ApiProperty({ ...schema, ...documented(options) } as ApiPropertyOptions);
  const check = ValidateBy({
    name: 'declaredField',
    validator: {
      validate: (value) => (complaint = judge(value)) === undefined,
      defaultMessage: () => complaint ?? '',
    },
  });
  return (target, property) => {
    api(target, property);
    check(target, property);
    addField(target.constructor, String(property), { read, ignored: false });
  };
}

/** The field is accepted whatever it holds, and forgotten. */
export function IgnoredField(): PropertyDecorator {
  return (target, property) => addField(target.constructor, String(property), { read: undefined, ignored: true });
}

/** Fields that the class does not declare are forgotten instead of refused. */
export function IgnoreUnknownFields(): ClassDecorator {
  return (target) => Reflect.defineMetadata(IGNORE_UNKNOWN, true, target);
}

export function ignoresUnknownFields(type: DtoClass): boolean {
  return Reflect.getMetadata(IGNORE_UNKNOWN, type) === true;
}

/** The fields of a class and of those it extends. */
export function fieldsOf(type: DtoClass): ReadonlyMap<string, ReadableField> {
  return (
    (Reflect.getMetadata(FIELDS, type) as Map<string, ReadableField> | undefined) ?? new Map<string, ReadableField>()
  );
}

function addField(type: object, name: string, field: ReadableField): void {
  const inherited = Reflect.getMetadata(FIELDS, type) as Map<string, ReadableField> | undefined;
  Reflect.defineMetadata(FIELDS, new Map(inherited).set(name, field), type);
}

function documented({ optional, nullable, description, example, deprecated }: FieldOptions): ApiPropertyOptions {
  return {
    required: !optional,
    ...(nullable && { nullable: true }),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
    ...(deprecated && { deprecated: true }),
  };
}
