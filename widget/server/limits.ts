import type { Fields } from './fields.js';

export interface WidgetServerLimits {
  /** Of a JSON body, in bytes; default 1,048,576. */
  readonly jsonBytes: number;
  /** Of an uploaded file, which is held in memory, in bytes; default 20,971,520, the largest attachment of a message. */
  readonly uploadBytes: number;
  /** For a request's body to arrive; default 120,000. */
  readonly bodyTimeoutMs: number;
  /** For the service's response to begin; default 60,000. */
  readonly serviceTimeoutMs: number;
  /** Uploads that are held in memory at once; further ones are answered with 503. Default 8. */
  readonly concurrentUploads: number;
}

const DEFAULTS: WidgetServerLimits = {
  jsonBytes: 1_048_576,
  uploadBytes: 20_971_520,
  bodyTimeoutMs: 120_000,
  serviceTimeoutMs: 60_000,
  concurrentUploads: 8,
};
/** Longer timers end at once. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** @throws TypeError that names the limit */
export function limitsOf(given: Partial<WidgetServerLimits>): WidgetServerLimits {
  const read = (name: keyof WidgetServerLimits): number => {
    // Without `??`, which would take null for the default.
    const { [name]: value = DEFAULTS[name] }: Fields = given;
    const max = name.endsWith('Ms') ? MAX_TIMEOUT : Number.MAX_SAFE_INTEGER;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= max) return value;
    throw new TypeError(`agent-chat-widget/server: limits.${name} must be a whole number from 1 to ${max}`);
  };
  return {
    jsonBytes: read('jsonBytes'),
    uploadBytes: read('uploadBytes'),
    bodyTimeoutMs: read('bodyTimeoutMs'),
    serviceTimeoutMs: read('serviceTimeoutMs'),
    concurrentUploads: read('concurrentUploads'),
  };
}
