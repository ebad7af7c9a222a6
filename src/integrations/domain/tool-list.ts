import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import type { Integration } from './integration.js';

/** A tool as its server describes it, checked and bounded (`mcp/`). */
export const listedTool = z.object({
  /** As the server names it. */
  name: z.string(),
  description: z.string().default(''),
  /** A JSON Schema of type `object`. */
  inputSchema: sent<JsonObject>(),
  /** The server says that calls change nothing (`readOnlyHint`). */
  readOnly: z.boolean().default(false),
});
export type ListedTool = Stored<typeof listedTool>;

export type IntegrationStatus = 'connected' | 'needs_authorization' | 'error';

/** The result of the last check of an integration's server. */
export interface IntegrationState {
  /** The integration's revision at the check. */
  readonly revision: number;
  readonly status: IntegrationStatus;
  /** In plain words, without secrets. Null while connected, unless a model provider refuses the schema of a tool. */
  readonly error: string | null;
  /** From the last successful listing. They are offered while the server is down, too. */
  readonly tools: readonly ListedTool[];
  readonly checkedAt: Date;
}

/** The result of one check. */
export interface ServerFinding extends Omit<IntegrationState, 'tools'> {
  /** Null if the server did not list them: the stored ones stay. */
  readonly tools: readonly ListedTool[] | null;
}

/** A state without its tools, for runs. */
export interface StateHeader extends Omit<IntegrationState, 'tools'> {
  /** Identifies the list of tools. */
  readonly toolsDigest: string;
  /** The length of the tools as JSON. */
  readonly toolsBytes: number;
  readonly toolsCount: number;
}

/** The part of a state that responses show. */
export interface IntegrationOverview extends Pick<IntegrationState, 'revision' | 'status' | 'error'> {
  /** With shortened descriptions. */
  readonly tools: readonly Pick<ListedTool, 'name' | 'description'>[];
}

export interface IntegrationWithState {
  readonly integration: Integration;
  /** Null until its server has been checked. */
  readonly state: IntegrationOverview | null;
}

/** The `error` of an integration whose server has not been checked since it was created or changed. */
export const NOT_CONNECTED_YET = 'Not connected yet.';

/** Characters of a description in responses; the model reads all of it. */
export const MAX_SHOWN_DESCRIPTION = 500;

export function shownDescription(description: string): string {
  const characters = [...description.slice(0, 2 * MAX_SHOWN_DESCRIPTION)];
  const isWhole = description.length <= 2 * MAX_SHOWN_DESCRIPTION && characters.length <= MAX_SHOWN_DESCRIPTION;
  return isWhole ? description : `${characters.slice(0, MAX_SHOWN_DESCRIPTION - 1).join('')}…`;
}
