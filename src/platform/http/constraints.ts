import { isUUID, ValidateBy, type ValidationOptions } from 'class-validator';

/*
 * Rules that class-validator has no decorator for, or one of another meaning. Each is a function too, for values that are
 * in no field.
 */

/** Lengths in Unicode code points, the way the interface counts characters. */
export interface TextBounds {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
}

export interface MapBounds {
  readonly maxEntries?: number;
  readonly maxKeyLength?: number;
  readonly maxValueLength?: number;
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Unlike class-validator's `Length`, which leaves variation selectors out of the count. */
export function HasCodePoints(bounds: TextBounds, options: ValidationOptions): PropertyDecorator {
  return rule('hasCodePoints', (value) => isText(value, bounds), options);
}

/** @returns whether it is a string of a length within the bounds; the pattern is not looked at */
export function isText(value: unknown, { min = 0, max = Infinity }: TextBounds): value is string {
  if (typeof value !== 'string' || value.length < min) return false;
  // A string has at most as many code points as code units, and at least half as many: most need no counting.
  if (value.length <= max && value.length >= 2 * min) return true;
  if (value.length > 2 * max) return false;
  let count = 0;
  for (const _ of value) count += 1;
  return count >= min && count <= max;
}

/** Such as ` of 1 to 20 characters`. */
export function range(noun: string, { min = 0, max = Infinity }: { readonly min?: number; readonly max?: number }): string {
  const plural = (count: number): string => (count === 1 ? noun : `${noun}s`);
  if (max === Infinity) return min === 0 ? '' : ` of at least ${min} ${plural(min)}`;
  return min === 0 ? ` of at most ${max} ${plural(max)}` : ` of ${min} to ${max} ${noun}s`;
}

/** A UUID of any version and spelling. */
export function isUuid(value: unknown): boolean {
  return isUUID(value, 'all');
}

/** Unlike class-validator's `IsUrl`, what the platform's own parser takes for a URL. */
export function IsUrlOf(protocols: readonly string[], max: number, options: ValidationOptions): PropertyDecorator {
  const isUrl = (value: unknown): boolean => {
    const url = typeof value === 'string' && value.length <= max ? URL.parse(value) : null;
    return url !== null && protocols.includes(url.protocol.slice(0, -1));
  };
  return rule('isUrlOf', isUrl, options);
}

/** An object whose `property` is one of the values. */
export function HasOneOf(property: string, values: readonly unknown[], options: ValidationOptions): PropertyDecorator {
  return rule('hasOneOf', (value) => isJsonObject(value) && values.includes(value[property]), options);
}

/** An object of entries whose keys the caller chooses; `complaint` says what is wrong with a value. */
export function IsMap(
  wanted: string,
  { maxEntries = Infinity, maxKeyLength = 255 }: MapBounds,
  complaint: (value: unknown) => string | undefined,
): PropertyDecorator {
  const fault = (value: unknown): string | undefined => {
    if (!isJsonObject(value)) return value === undefined ? 'is required' : wanted;
    const keys = Object.keys(value);
    if (keys.length > maxEntries) return `must have at most ${maxEntries} entries`;
    for (const key of keys) {
      if (!isText(key, { min: 1, max: maxKeyLength })) return `must have keys of 1 to ${maxKeyLength} characters`;
      const found = complaint(value[key]);
      if (found !== undefined) return `/${key} ${found}`;
    }
    return undefined;
  };
  return rule('isMap', (value) => fault(value) === undefined, { message: ({ value }) => fault(value) ?? '' });
}

/** A decorator of a rule of one's own. */
export function rule(name: string, validate: (value: unknown) => boolean, options: ValidationOptions): PropertyDecorator {
  return ValidateBy({ name, validator: { validate } }, options);
}
