import { TransformationType, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import { ARRAY_MAX_SIZE, getMetadataStorage, IS_ARRAY, type MetadataStorage } from 'class-validator';
import { isJsonObject } from './constraints.js';

export type DtoClass = new () => object;
type Fields = Record<string, unknown>;

/** What the decorators of a field say about making it. */
interface Field {
  /** The class of what is in it, by what was sent. */
  readonly classOf: ((sent: Fields) => DtoClass | undefined) | undefined;
  /** Of a list: a longer one is left as it is, for the rules to refuse. */
  readonly maxItems: number | undefined;
  readonly transform: (value: unknown, sent: Fields) => unknown;
}

type Rule = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

interface Plan {
  readonly fields: ReadonlyMap<string, Field>;
  readonly ignoresUnknown: boolean;
}

/** Of one object: more than a message names. */
const MAX_UNKNOWN = 20;
/** Precedes the name of an unknown field that all objects inherit; no name that is sent has it. */
export const INHERITED = '\u0000';
const IGNORE_UNKNOWN = Symbol('http:ignore-unknown-fields');
const plans = new WeakMap<DtoClass, Plan>();

/** Fields that the class does not declare are forgotten instead of refused. */
export function IgnoreUnknownFields(): ClassDecorator {
  return (target) => Reflect.defineMetadata(IGNORE_UNKNOWN, true, target);
}

/**
 * Stands in for class-transformer's `plainToInstance`: the same decorators (`@Type` with its discriminator, `@Transform`),
 * without what that does with a body that was made to do harm. It copies every value however large and whatever the rules
 * say of it, compares each name of an object with each, calls what is sent under the name `constructor`, and leaves
 * names that all objects inherit out, so that nobody refuses them. Here a value without `@Type` is taken over untouched.
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
      // For class-validator to refuse; it takes the names that all objects inherit for declared ones.
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

/** Looked up once for each class: to do so for each object costs more than to make it. */
function planOf(type: DtoClass): Plan {
  const known = plans.get(type);
  if (known) return known;
  const rules = Map.groupBy(
    getMetadataStorage().getTargetValidationMetadatas(type, '', false, false),
    (rule) => rule.propertyName,
  );
  const fields = new Map([...rules].map(([name, ofField]) => [name, fieldOf(type, name, ofField)]));
  const plan = { fields, ignoresUnknown: Reflect.getMetadata(IGNORE_UNKNOWN, type) === true };
  plans.set(type, plan);
  return plan;
}

function fieldOf(type: DtoClass, key: string, rules: readonly Rule[]): Field {
  const isList = rules.some(({ name }) => name === IS_ARRAY);
  const [most = Infinity] = rules
    .filter(({ name }) => name === ARRAY_MAX_SIZE)
    .map(({ constraints }) => constraints[0] as number);
  const transforms = defaultMetadataStorage.findTransformMetadatas(type, key, TransformationType.PLAIN_TO_CLASS);
  const call = { key, type: TransformationType.PLAIN_TO_CLASS, options: {} };
  return {
    classOf: classOf(type, key),
    maxItems: isList ? most : undefined,
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
