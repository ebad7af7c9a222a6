import type { JsonObject, ModelMedia, ToolDefinition } from '../../models/index.js';
import type { RunnableAgent } from '../../agents/index.js';
import type { ToolEffect } from '../domain/approval.js';
import type { RunContext } from './run-context.js';

/** The type of the trace step for a call of the tool. */
export type ToolStepType = 'tool' | 'retrieval' | 'memory';

/** A response component, such as buttons, which the widget draws beside the text of the reply. */
export interface ShownComponent {
  /** The kind of component, such as `confirm`. */
  readonly component: string;
  readonly props: JsonObject;
  /** The component as prose (Markdown), for clients that cannot draw it. */
  readonly fallback: string;
  /** The caller's widget is too old to draw it, so the reply's text gets the prose too. */
  readonly asText: boolean;
}

export interface ToolResult {
  readonly output: string;
  readonly isError: boolean;
  /** Images and files of the result; `output` names each, for models that cannot take it. */
  readonly media?: readonly ModelMedia[];
  /** Sent as a component event and stored with the message; ignored for a failed call. */
  readonly component?: ShownComponent;
}

/** Whether the model's provider accepted a tool's schema. */
export type SchemaVerdict =
  | { readonly accepted: true }
  /**
   * The provider refused the request because of this schema (`isNamed`), or without naming a schema. `reason` quotes
   * it, without secrets.
   */
  | { readonly accepted: false; readonly isNamed: boolean; readonly reason: string };

/** A tool that the model can call in one run. */
export interface OfferedTool {
  readonly definition: ToolDefinition;
  readonly step: ToolStepType;
  /** Together with the agent's settings this decides whether a call needs approval. */
  readonly effect: ToolEffect;
  /**
   * Identifies what a call reaches, for tools whose name may refer to something else later: an approval holds only for
   * the same target. Stored with the request for approval and never shown. Must not contain secrets.
   */
  readonly target?: string;
  /** When an agent has very many tools, requests omit this one until the model finds it with `find_tools`. */
  readonly searchable?: boolean;
  /** The model's provider is known to refuse the schema, so requests have a plain object schema instead. */
  readonly schemaRefused?: boolean;
  /**
   * Called at most once a run for each verdict: the provider answered a request with the schema, or refused it because
   * of the schema; the engine then repeats the request with a plain object schema. Must not throw; the run does not
   * wait for it.
   */
  schemaJudged?(verdict: SchemaVerdict): void;
  /**
   * Runs the tool. Should not throw: a failure that the model can handle is an `isError` result. When it throws, the
   * model reads only that the tool failed, and the log has the error.
   */
  call(input: JsonObject, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Offers tools for a run. A source that cannot reach its tools offers none and does not fail the run. When two tools
 * have the same name, the first source's tool wins.
 */
export abstract class ToolSource {
  /** Called again after it rejected with `DatabaseUnavailable`, once the database is back. */
  abstract offer(run: RunContext): Promise<readonly OfferedTool[]>;

  /**
   * The names of all tools that the source may offer for runs of the agent. Called before runs with tools of the caller,
   * which are refused when they have such a name.
   */
  namesOf(_organizationId: string, _agent: RunnableAgent): Promise<readonly string[]> {
    return Promise.resolve([]);
  }
}
