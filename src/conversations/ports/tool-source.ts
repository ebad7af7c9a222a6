import type { JsonObject, ModelMedia, ToolDefinition } from '../../models/index.js';
import type { ToolEffect } from '../domain/approval.js';
import type { RunContext } from './run-context.js';

/** How a trace names the step in which the tool ran. */
export type ToolStepType = 'tool' | 'retrieval' | 'memory';

/** Something that the widget draws beside the text of the reply, such as buttons. */
export interface ShownComponent {
  /** What is drawn, such as `confirm`. */
  readonly component: string;
  readonly props: JsonObject;
  /** The same as prose (Markdown), for a reader that cannot draw it. */
  readonly fallback: string;
  /** The caller's widget is known not to draw it: the prose becomes a part of the reply's text as well. */
  readonly asText: boolean;
}

export interface ToolResult {
  /** What the model reads. */
  readonly output: string;
  readonly isError: boolean;
  /** What it shows besides; `output` names each, for models that cannot take it. */
  readonly media?: readonly ModelMedia[];
  /** Put before whoever chats: sent as a component event and kept with the message. Not of a call that failed. */
  readonly component?: ShownComponent;
}

/** Whether the model's provider accepted a tool's schema. */
export type SchemaVerdict =
  | { readonly accepted: true }
  /** It refused the whole request: because of this schema (`isNamed`), or without naming one. `reason` quotes it, without secrets. */
  | { readonly accepted: false; readonly isNamed: boolean; readonly reason: string };

/** One tool, offered for one run. */
export interface OfferedTool {
  readonly definition: ToolDefinition;
  readonly step: ToolStepType;
  /** What a call does, which decides with the agent's settings whether somebody has to approve it. */
  readonly effect: ToolEffect;
  /**
   * What a call reaches, where the tool's name may come to mean something else: an approval holds for this alone. Stored
   * with the request, so no secret; shown to nobody.
   */
  readonly target?: string;
  /** Where an agent has very many tools, the model finds this one by searching (`find_tools`) instead of being told of it at once. */
  readonly searchable?: boolean;
  /** The model's provider refuses the schema, so requests have a plain object in its place. */
  readonly schemaRefused?: boolean;
  /**
   * Called at most once a run for each verdict: the provider answered a request with the schema, or refused the request because of
   * it, and the engine then sends it once more with a plain object. Must not throw; the run does not wait for it.
   */
  schemaJudged?(verdict: SchemaVerdict): void;
  /**
   * Runs the tool. Should not throw: a failure the model can work with is an `isError` result. What
   * it throws all the same is told to the model as a plain failure, its text to the log alone.
   */
  call(input: JsonObject, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Offers tools for a run and calls them. A source that cannot reach its tools offers none rather
 * than failing the run. Names are unique over all sources; the first source to offer one keeps it.
 */
export abstract class ToolSource {
  abstract offer(run: RunContext): Promise<readonly OfferedTool[]>;
}
