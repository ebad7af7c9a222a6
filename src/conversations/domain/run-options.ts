import { z } from 'zod';
import { type JsonObject, responseFormat } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';

/** A tool that the caller of a run executes. */
const clientTool = z.object({ name: z.string(), description: z.string(), inputSchema: sent<JsonObject>() });

/** What a run may use, together with the runs that it resumes. An absent limit does not hold. */
const requestedLimits = z.object({
  /** Calls of the model. */
  maxSteps: z.number().optional(),
  maxCredits: z.number().optional(),
});
export type RequestedLimits = Stored<typeof requestedLimits>;

/** What the caller of a run asks for besides the answer to its message. A run that resumes another one has the same. */
export const runOptions = z.object({
  clientTools: z.array(clientTool).optional(),
  /** The model makes one call at a time, where its provider can be told so. */
  oneCallAtATime: z.literal(true).optional(),
  limits: requestedLimits.optional(),
  /** What the reply has to be; absent for free text. */
  responseFormat: responseFormat.optional(),
});
export type RunOptions = Stored<typeof runOptions>;

export const NO_OPTIONS: RunOptions = {};

/** What a run has used up, together with the runs that it resumes. */
const runConsumption = z.object({
  /** Calls of the model. */
  steps: z.int().default(0),
  credits: z.number().default(0),
});
export type RunConsumption = Stored<typeof runConsumption>;

export const NOTHING_USED: RunConsumption = { steps: 0, credits: 0 };

/** What the run that resumes this one takes over from it. */
export const runContinuation = z.object({
  options: runOptions.default({}),
  used: runConsumption.default({ steps: 0, credits: 0 }),
});
export type RunContinuation = Stored<typeof runContinuation>;

/**
 * A request that resumes a run can only lower its limits.
 * @param sent what the request that resumes the run asks for
 */
export function resumedOptions(earlier: RunOptions, sent: RunOptions): RunOptions {
  const limits = lowerLimits(earlier.limits, sent.limits);
  return { ...earlier, ...sent, ...(limits ? { limits } : {}) };
}

function lowerLimits(
  earlier: RequestedLimits | undefined,
  sent: RequestedLimits | undefined,
): RequestedLimits | undefined {
  if (!earlier || !sent) return earlier ?? sent;
  const maxSteps = lower(earlier.maxSteps, sent.maxSteps);
  const maxCredits = lower(earlier.maxCredits, sent.maxCredits);
  return { ...(maxSteps === undefined ? {} : { maxSteps }), ...(maxCredits === undefined ? {} : { maxCredits }) };
}

function lower(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
