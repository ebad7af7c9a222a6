import { type FieldOptions, ScalarMapField } from '../../platform/http/index.js';

const BOUNDS = { maxEntries: 64, maxKeyLength: 255, maxValueLength: 10_000 } as const;

/** An object of strings, numbers and booleans with facts about the user. */
export function UserContextField(options: FieldOptions = {}): PropertyDecorator {
  return ScalarMapField({ ...options, ...BOUNDS });
}
