import { ARRAY_MAX_SIZE, getMetadataStorage, IS_ARRAY } from 'class-validator';
import { isJsonObject } from './constraints.js';

export type DtoClass = new () => object;
type Fields = Record<string, unknown>;

/** How the value of a field is made of what was sent. Without it, the field keeps what was sent. */
interface FieldReading {
  /** The class of the object in the field, or of each object in its list; undefined leaves the object as it is. */
  readonly classOf?: (sent: Fields) => DtoClass | undefined;
  readonly transform?: (value: unknown) => unknown;
}

interface Field extends FieldReading {
  /** Of a list. A longer list stays as it is, for the rules to refuse. */
  readonly maxItems: number | undefined;
}

interface Plan {
  readonly fields: ReadonlyMap<string, Field>;
  readonly ignoresUnknown: boolean;
}

/** Unknown fields of one object that are passed on to be refused; more than a message names. */
const MAX_UNKNOWN = 20;
/** Precedes the name of an unknown field that all objects inherit. A name with U+0000 is refused before. */
export const INHERITED = '\u0000';
const READING = Symbol('http:field-reading');
const IGNORE_UNKNOWN = Symbol('http:ignore-unknown-fields');
const plans = new WeakMap<DtoClass, Plan>();

/** Declares how a field is read; several transforms of one field run in the order of their decorators. */
export function ReadField({ classOf, transform }: FieldReading): PropertyDecorator {
  return (target, name) => {
    const before = Reflect.getMetadata(READING, target, name) as FieldReading | undefined;
    const first = before?.transform;
    const both = first && transform ? (value: unknown) => transform(first(value)) : (transform ?? first);
    Reflect.defineMetadata(READING, { classOf: classOf ?? before?.classOf, transform: both }, target, name);
  };
}

/** Drops fields that the class does not declare instead of refusing them. */
export function IgnoreUnknownFields(): ClassDecorator {
  return (target) => Reflect.defineMetadata(IGNORE_UNKNOWN, true, target);
}

/**
 * Makes an instance of a DTO class of a JSON object. Reads each value once, so that a malicious body costs no more than a valid
 * one, and leaves values without a class untouched. Unknown fields stay as undefined, for class-validator to refuse.
 */
export function plainToInstance(type: DtoClass, sent: Fields): object {
  const { fields, ignoresUnknown } = planOf(type);
  const dto = new type() as Fields;
  let unknown = 0;
  for (const name of Object.keys(sent)) {
    const field = fields.get(name);
    if (field) {
      const nested = nestedIn(field, sent[name]);
      const value = field.transform ? field.transform(nested) : nested;
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
    return type ? plainToInstance(type, value as Fields) : value;
  };
  if (maxItems === undefined) return make(sent);
  return Array.isArray(sent) && sent.length <= maxItems ? sent.map(make) : sent;
}

/** Made once for each class: to look it up for each object costs more than to make the object. */
function planOf(type: DtoClass): Plan {
  const known = plans.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const fields = new Map<string, Field>();
  for (const [name, ofField] of Map.groupBy(rules, ({ propertyName }) => propertyName)) {
    const maxSize = ofField.find((rule) => rule.name === ARRAY_MAX_SIZE)?.constraints[0] as number | undefined;
    const maxItems = ofField.some((rule) => rule.name === IS_ARRAY) ? (maxSize ?? Infinity) : undefined;
    fields.set(name, { ...(Reflect.getMetadata(READING, type.prototype as object, name) as FieldReading), maxItems });
  }
  const plan = { fields, ignoresUnknown: Reflect.getMetadata(IGNORE_UNKNOWN, type) === true };
  plans.set(type, plan);
  return plan;
}
