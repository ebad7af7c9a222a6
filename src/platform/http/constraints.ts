import { ValidateBy, type ValidationOptions } from 'class-validator';

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

export interface NumberBounds extends Bounds {
  /** The number must be larger than this. */
  readonly above?: number;
}

/** Lengths in Unicode code points, as the interface counts characters. */
export interface TextBounds extends Bounds {
  readonly pattern?: RegExp;
}

export interface MapBounds {
  readonly maxEntries?: number;
  readonly maxKeyLength?: number;
  readonly maxValueLength?: number;
}

/** A rule for which class-validator has no decorator. */
export function rule(
  name: string,
  validate: (value: unknown) => boolean,
  options: ValidationOptions,
): PropertyDecorator {
  return ValidateBy({ name, validator: { validate } }, options);
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Counts every code point, unlike class-validator's `length`, which skips variation selectors. Ignores the pattern. */
export function isText(value: unknown, { min = 0, max = Infinity }: TextBounds): value is string {
  if (typeof value !== 'string' || value.length < min) return false;
  // The number of code points is between half the number of code units and all of it, so most strings need no counting.
  if (value.length <= max && value.length >= 2 * min) return true;
  if (value.length > 2 * max) return false;
  let count = 0;
  for (const _ of value) count += 1;
  return count >= min && count <= max;
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A date and time with an offset. Accepts the year 0, unlike class-validator's `isISO8601`. */
export function isTimestamp(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const [, year, month, day] = TIMESTAMP.exec(value) ?? [];
  if (year === undefined || Number.isNaN(Date.parse(value))) return false;
  // `Date` turns 30 February into 2 March.
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCMonth() === Number(month) - 1;
}

export function isDate(value: unknown): boolean {
  return typeof value === 'string' && value.length === DATE_LENGTH && isTimestamp(`${value}T00:00:00Z`);
}

/** Of `2025-01-31`. */
const DATE_LENGTH = 10;

/** An object whose keys the caller chooses; `faultOf` returns what is wrong with a value. */
export function IsMap(
  wanted: string,
  bounds: MapBounds,
  faultOf: (value: unknown) => string | undefined,
): PropertyDecorator {
  const { maxEntries = Infinity, maxKeyLength = 255 } = bounds;
  const fault = (value: unknown): string | undefined => {
    if (!isJsonObject(value)) return value === undefined ? 'is required' : wanted;
    const keys = Object.keys(value);
    if (keys.length > maxEntries) return `must have at most ${maxEntries} entries`;
    for (const key of keys) {
      if (!isText(key, { min: 1, max: maxKeyLength })) return `must have keys of 1 to ${maxKeyLength} characters`;
      const found = faultOf(value[key]);
      if (found !== undefined) return `/${key} ${found}`;
    }
    return undefined;
  };
  return rule('isMap', (value) => fault(value) === undefined, { message: ({ value }) => fault(value) ?? '' });
}

/** Such as ` from 1 to 20` or, with a noun, ` of 1 to 20 items`. */
export function range({ min, max, above }: NumberBounds, noun?: string): string {
  if (above !== undefined) return ` above ${above}${max === undefined ? '' : ` and of at most ${max}`}`;
  const units = (count: number): string =>
    noun === undefined ? `${count}` : `${count} ${noun}${count === 1 ? '' : 's'}`;
  const least = noun !== undefined && min === 0 ? undefined : min;
  if (max === undefined) return least === undefined ? '' : ` of at least ${units(least)}`;
  if (least === undefined) return ` of at most ${units(max)}`;
  return noun === undefined ? ` from ${least} to ${max}` : ` of ${least} to ${max} ${noun}s`;
}
