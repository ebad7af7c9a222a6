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

/** One thing the run did. `input` and `output` may be a `TruncatedValue` in place of what was too large. */
export const traceStep = z.object({
  id: z.string(),
  type: named<StepType>(),
  name: z.string(),
  /** ISO 8601. */
  startedAt: z.string(),
  latencyMs: z.number(),
  input: z.unknown(),
  output: z.unknown(),
  error: z.string().nullable().default(null),
  usage: z.object({ inputTokens: z.number().nullable(), outputTokens: z.number().nullable() }).optional(),
  /** Of a model call: the provider's id of its answer, and the model that the provider names. */
  response: z.object({ id: z.string().nullable(), model: z.string().nullable() }).optional(),
});
export type TraceStep = Stored<typeof traceStep>;

/** A trace as a list shows it: `input` and `output` are their beginnings. */
export interface TraceSummary {
  /** The id of the run it tells of: a run that is stored twice leaves one trace. */
  readonly id: Run['id'];
  readonly agentId: string;
  readonly threadId: string;
  /** The assistant message; null when the run ended before there was one. */
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

/** What one run was asked, answered and did; `input` and `output` are whole. */
export interface Trace extends TraceSummary {
  /** From the start of the run to the first text; null when there was none. */
  readonly timeToFirstTokenMs: number | null;
  readonly steps: readonly TraceStep[];
  readonly userContext: UserContext | null;
}

/** A trace for the operator's OpenTelemetry backend. */
export interface PushedTrace extends Trace {
  readonly organizationId: string;
  readonly agentName: string;
  /** The span of the caller's own trace; null when the request named none. */
  readonly callerSpan: CallerSpan | null;
}

/** A trace as it is recorded, with what nobody is shown. */
export interface RecordedTrace extends Trace {
  readonly callerSpan: CallerSpan | null;
  readonly endedAt: Date;
  /** Roughly what it takes as JSON. */
  readonly storedBytes: number;
  /** Stands for the user that `userContext` names, a UUID; null where it names none. */
  readonly userKey: string | null;
}
