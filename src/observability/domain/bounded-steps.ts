import type { RunStep } from '../../conversations/index.js';
import { STEP_ERROR_CHARACTERS, STEP_VALUE_BYTES, STEP_VALUE_DEPTH, STEPS_BYTES } from '../limits.js';
import type { TraceStep } from './trace.js';

/** Replaces an input or output that is too large or too deep for a trace. */
export interface TruncatedValue {
  readonly truncated: true;
  /** Size of the whole value in UTF-8 bytes, of its text or its JSON; null if it has no JSON. */
  readonly bytes: number | null;
  /** The beginning of a string, or of the value's JSON. */
  readonly preview: string;
}

export interface BoundedSteps {
  readonly steps: readonly TraceStep[];
  /** Approximate size of their JSON. */
  readonly bytes: number;
}

/** Size of a step without its texts. */
const STEP_BYTES = 300;

/** The steps as a trace stores them: of limited size, and with JSON only. */
export function boundedSteps(steps: readonly RunStep[]): BoundedSteps {
  let left = STEPS_BYTES;
  const bounded = (value: unknown): unknown => {
    const kept = boundedValue(value, Math.min(STEP_VALUE_BYTES, left));
    left = Math.max(0, left - kept.bytes);
    return kept.value;
  };
  const kept = steps.map(({ startedAt, input, requestedInput, output, error, ...step }) => ({
    ...step,
    startedAt: startedAt.toISOString(),
    input: bounded(input),
    ...(requestedInput === undefined ? {} : { requestedInput: bounded(requestedInput) }),
    output: bounded(output),
    error: error === null ? null : boundedError(error),
  }));
  const otherBytes = kept.reduce(
    (sum, { name, error }) => sum + STEP_BYTES + Buffer.byteLength(name) + Buffer.byteLength(error ?? ''),
    0,
  );
  return { steps: kept, bytes: STEPS_BYTES - left + otherBytes };
}

/** @returns the value or a `TruncatedValue`, and the approximate bytes of it */
export function boundedValue(value: unknown, limit: number): { value: unknown; bytes: number } {
  if (value === undefined || value === null) return { value: null, bytes: 0 };
  const text = typeof value === 'string' ? value : toJson(value);
  if (text === undefined) return { value: truncated(null, ''), bytes: 0 };
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit && isShallow(value, STEP_VALUE_DEPTH)) return { value, bytes };
  const preview = beginning(text, limit);
  return { value: truncated(bytes, preview), bytes: Buffer.byteLength(preview) };
}

function truncated(bytes: number | null, preview: string): TruncatedValue {
  return { truncated: true, bytes, preview };
}

/** Undefined for a value without JSON: a cycle, a bigint, nesting beyond the stack. */
function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** At most `bytes` bytes of UTF-8, without an incomplete character at the end. */
function beginning(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

function boundedError(error: string): string {
  const characters = [...error.slice(0, 2 * (STEP_ERROR_CHARACTERS + 1))];
  return characters.length <= STEP_ERROR_CHARACTERS
    ? error
    : `${characters.slice(0, STEP_ERROR_CHARACTERS).join('')} [cut]`;
}
