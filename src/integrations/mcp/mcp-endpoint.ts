import type { TransportType } from '../domain/integration.js';

/** Bearer tokens of an OAuth grant. */
export interface TokenSource {
  /**
   * A token that is valid for a while yet, refreshed first where it is not.
   * @throws McpFailure `needs_authorization` when there is no grant, or it is gone
   */
  current(signal: AbortSignal): Promise<string>;
  /**
   * The server refused `rejected` with this `WWW-Authenticate`. @returns another token
   * @throws McpFailure `needs_authorization` when there is none to be had
   */
  replace(rejected: string, challenge: string | null, signal: AbortSignal): Promise<string>;
}

export interface HttpEndpoint {
  readonly kind: 'http';
  readonly transport: TransportType;
  readonly url: string;
  /** With their secrets: for this server's origin alone, never for a log. */
  readonly headers: Readonly<Record<string, string>>;
  /** `operator`: the address is of the operator's settings and may be a private one. */
  readonly chosenBy: 'customer' | 'operator';
  readonly tokens?: TokenSource;
  /** Those values within the headers that nobody may be told, whatever the server repeats; all of them where this is not said. */
  readonly secrets?: readonly string[];
}

/** A command of the operator's catalogue. */
export interface ProcessEndpoint {
  readonly kind: 'process';
  readonly organizationId: string;
  readonly integrationId: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment besides what every process needs to run; holds secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Name of the variable that gets the path of a file in the server's private folder. */
  readonly stateFile?: string;
  /** As of an `HttpEndpoint`, within the environment. */
  readonly secrets?: readonly string[];
}

export type McpEndpoint = HttpEndpoint | ProcessEndpoint;
