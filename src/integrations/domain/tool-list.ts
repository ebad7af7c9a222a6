import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';

/** A tool as its server describes it, checked and bounded (`mcp/`). */
export const listedTool = z.object({
  /** The server's own name. */
  name: z.string(),
  description: z.string().default(''),
  /** A JSON Schema of type `object`. */
  inputSchema: sent<JsonObject>(),
  /** The server says that calls change nothing (`readOnlyHint`). */
  readOnly: z.boolean().default(false),
});
export type ListedTool = Stored<typeof listedTool>;

export type IntegrationStatus = 'connected' | 'needs_authorization' | 'error';

/** What is known of an integration's server since it was last asked. */
export interface IntegrationState {
  /** Of the integration when the server was asked. */
  readonly revision: number;
  readonly status: IntegrationStatus;
  /** In plain words, without secrets. Null while connected, unless a model provider refuses the schema of a tool. */
  readonly error: string | null;
  /** Those of the last successful listing: they are offered also while the server is away. */
  readonly tools: readonly ListedTool[];
  readonly checkedAt: Date;
}

/** What came of asking a server. */
export interface ServerFinding extends Omit<IntegrationState, 'tools'> {
  /** Null where the server did not list them: those that are known stay. */
  readonly tools: readonly ListedTool[] | null;
}

/** A state without its tools, for the path of a run. */
export interface StateHeader extends Omit<IntegrationState, 'tools'> {
  /** Another one for each list of tools. */
  readonly toolsDigest: string;
  /** As JSON. */
  readonly toolsBytes: number;
  readonly toolsCount: number;
}

/** What is shown of a state. */
export interface IntegrationOverview extends Pick<IntegrationState, 'revision' | 'status' | 'error'> {
  /** Long descriptions are cut. */
  readonly tools: readonly Pick<ListedTool, 'name' | 'description'>[];
}

/** Shown of an integration whose server has not been asked since it was made or changed. */
export const NOT_CONNECTED_YET = 'Not connected yet.';

/** Characters of a description that are shown; the model reads all of it. */
export const MAX_SHOWN_DESCRIPTION = 500;

export function shownDescription(description: string): string {
  const characters = [...description.slice(0, 2 * MAX_SHOWN_DESCRIPTION)];
  const isWhole = description.length <= 2 * MAX_SHOWN_DESCRIPTION && characters.length <= MAX_SHOWN_DESCRIPTION;
  return isWhole ? description : `${characters.slice(0, MAX_SHOWN_DESCRIPTION - 1).join('')}…`;
}
