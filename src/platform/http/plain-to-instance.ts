import { TransformationType, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { ARRAY_MAX_SIZE, getMetadataStorage, IS_ARRAY, type MetadataStorage } from 'class-validator';
import { isJsonObject } from './constraints.js';

export type DtoClass = new () => object;
type Fields = Record<string, unknown>;
type Rule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

interface Field {
  /** The class of the object in the field, or of each object in its list; undefined leaves the object as it is. */
  readonly classOf: ((sent: Fields) => DtoClass | undefined) | undefined;
  /** Of a list. A longer list stays as it is, for the rules to refuse. */
  readonly maxItems: number | undefined;
  readonly transform: (value: unknown, sent: Fields) => unknown;
}

interface Plan {
  readonly fields: ReadonlyMap<string, Field>;
  readonly ignoresUnknown: boolean;
}

/** Unknown fields of one object that are passed on to be refused; more than a message names. */
const MAX_UNKNOWN = 20;
/** Precedes the name of an unknown field that all objects inherit. A name with U+0000 is refused before. */
export const INHERITED = '\u0000';
const IGNORE_UNKNOWN = Symbol('http:ignore-unknown-fields');
const plans = new WeakMap<DtoClass, Plan>();

/** Drops fields that the class does not declare instead of refusing them. */
export function IgnoreUnknownFields(): ClassDecorator {
  return (target) => Reflect.defineMetadata(IGNORE_UNKNOWN, true, target);
}

/**
 * Replaces class-transformer's `plainToInstance`, and reads the same decorators (`@Type` with its discriminator, `@Transform`).
 * The library copies every value, compares every two names of an object, calls what was sent under the name `constructor`,
 * and drops unknown fields whose names all objects inherit. Here a value without `@Type` stays untouched, each value is read
 * once, and unknown fields stay as undefined, for class-validator to refuse.
 */
export function plainToInstance<T>(type: new () => T, sent: unknown): T {
  return instanceOf(type as DtoClass, sent as Fields) as T;
}

function instanceOf(type: DtoClass, sent: Fields): object {
  const { fields, ignoresUnknown } = planOf(type);
  const dto = new type() as Fields;
  let unknown = 0;
  for (const name of Object.keys(sent)) {
    const field = fields.get(name);
    if (field) {
      const value = field.transform(nestedIn(field, sent[name]), sent);
      if (value !== undefined) dto[name] = value;
    } else if (!ignoresUnknown && unknown < MAX_UNKNOWN) {
      unknown += 1;
      // class-validator takes the names that all objects inherit for declared ones.
      dto[name in dto ? `${INHERITED}${name}` : name] = undefined;
    }
  }
  return dto;
}

function nestedIn({ classOf, maxItems }: Field, sent: unknown): unknown {
  if (!classOf) return sent;
  const make = (value: unknown): unknown => {
    const type = isJsonObject(value) ? classOf(value) : undefined;
    return type ? instanceOf(type, value as Fields) : value;
  };
  if (maxItems === undefined) return make(sent);
  return Array.isArray(sent) && sent.length <= maxItems ? sent.map(make) : sent;
}

/** Made once for each class: to look it up for each object costs more than to make the object. */
function planOf(type: DtoClass): Plan {
  const known = plans.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const byField = Map.groupBy(rules, ({ propertyName }) => propertyName);
  const fields = new Map([...byField].map(([name, ofField]) => [name, fieldOf(type, name, ofField)]));
  const plan = { fields, ignoresUnknown: Reflect.getMetadata(IGNORE_UNKNOWN, type) === true };
  plans.set(type, plan);
  return plan;
}

function fieldOf(type: DtoClass, key: string, rules: readonly Rule[]): Field {
  const maxSize = rules.find((rule) => rule.name === ARRAY_MAX_SIZE)?.constraints[0] as number | undefined;
  const transforms = defaultMetadataStorage.findTransformMetadatas(type, key, TransformationType.PLAIN_TO_CLASS);
  const call = { key, type: TransformationType.PLAIN_TO_CLASS, options: {} };
  return {
    classOf: classOf(type, key),
    maxItems: rules.some((rule) => rule.name === IS_ARRAY) ? (maxSize ?? Infinity) : undefined,
    transform: (made, obj) =>
      transforms.reduce<unknown>((value, { transformFn }) => transformFn({ ...call, value, obj }), made),
  };
}

function classOf(type: DtoClass, key: string): Field['classOf'] {
  const declared = defaultMetadataStorage.findTypeMetadata(type, key) as TypeMetadata | undefined;
  if (!declared) return undefined;
  const { discriminator } = declared.options;
  if (!discriminator) return () => declared.typeFunction() as DtoClass;
  const variants = new Map(discriminator.subTypes.map(({ name, value }) => [name, value as DtoClass]));
  return (sent) => variants.get(sent[discriminator.property] as string);
}
