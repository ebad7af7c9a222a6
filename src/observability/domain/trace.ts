import { z } from 'zod';
import type {
  CallerSpan,
  Channel,
  Run,
  RunError,
  RunStatus,
  RunUsage,
  StepType,
  UserContext,
} from '../../conversations/index.js';
import { named, type Stored } from '../../platform/stored-json/index.js';

/** One step of the run. `input` and `output` that are too large are a `TruncatedValue`. */
export const traceStep = z.object({
  id: z.string(),
  type: named<StepType>(),
  name: z.string(),
  /** ISO 8601. */
  startedAt: z.string(),
  latencyMs: z.number(),
  input: z.unknown(),
  /** Of a tool call: the model's arguments, where a person has changed them. */
  requestedInput: z.unknown().optional(),
  output: z.unknown(),
  error: z.string().nullable().default(null),
  usage: z
    .object({
      inputTokens: z.number().nullable(),
      outputTokens: z.number().nullable(),
      cachedInputTokens: z.number().nullable().default(null),
    })
    .optional(),
  /** Of a model call: the provider's id of the response, and the model that the provider names. */
  response: z.object({ id: z.string().nullable(), model: z.string().nullable() }).optional(),
});
export type TraceStep = Stored<typeof traceStep>;

/** A trace in a list: `input` and `output` are cut. */
export interface TraceSummary {
  /** The id of the run, so that a run that is stored twice has one trace. */
  readonly id: Run['id'];
  readonly agentId: string;
  readonly threadId: string;
  /** The assistant message; null if the run ended without one. */
  readonly messageId: string | null;
  readonly channel: Channel;
  readonly provider: string;
  readonly model: string;
  readonly status: RunStatus;
  readonly startedAt: Date;
  readonly latencyMs: number;
  readonly usage: RunUsage;
  readonly input: string;
  readonly output: string;
  /** Why the run failed or timed out; null for any other run. */
  readonly error: RunError | null;
}

/** The trace of one run: `input` and `output` are whole. */
export interface Trace extends TraceSummary {
  /** From the start of the run to its first text; null if there is none. */
  readonly timeToFirstTokenMs: number | null;
  readonly steps: readonly TraceStep[];
  readonly userContext: UserContext | null;
}

/** A trace for the operator's OpenTelemetry backend. */
export interface PushedTrace extends Trace {
  readonly organizationId: string;
  readonly agentName: string;
  /** The span of the caller's trace; null if the request named none. */
  readonly callerSpan: CallerSpan | null;
}

/** A trace with the columns that no response shows. */
export interface RecordedTrace extends Trace {
  readonly callerSpan: CallerSpan | null;
  readonly endedAt: Date;
  /** Approximate size as JSON. */
  readonly storedBytes: number;
  /** The key of the user in `userContext`, a UUID; null if it names none. */
  readonly userKey: string | null;
}
