import type { TransportType } from '../domain/integration.js';

/** Bearer tokens of an OAuth grant. */
export interface TokenSource {
  /**
   * A token that stays valid for a while. Refreshes an expiring one first.
   * @throws McpFailure `needs_authorization` if there is no valid grant
   */
  current(signal: AbortSignal): Promise<string>;
  /**
   * @param rejected the token that the server refused with this `WWW-Authenticate`
   * @returns another token
   * @throws McpFailure `needs_authorization` if no other token can be obtained
   */
  replace(rejected: string, challenge: string | null, signal: AbortSignal): Promise<string>;
}

export interface HttpEndpoint {
  readonly kind: 'http';
  readonly transport: TransportType;
  readonly url: string;
  /** Contain secrets: for this server's origin only, never for a log. */
  readonly headers: Readonly<Record<string, string>>;
  /** `operator`: the address comes from the operator's settings and may be private. */
  readonly chosenBy: 'customer' | 'operator';
  readonly tokens?: TokenSource;
  /** The values of the headers that are redacted in what the server sends; by default all of them. */
  readonly secrets?: readonly string[];
}

/** A command of the operator's catalogue. */
export interface ProcessEndpoint {
  readonly kind: 'process';
  readonly organizationId: string;
  readonly integrationId: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment, except what every process needs to run. Contains secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** Name of the variable that gets the path of a file in the server's private folder. */
  readonly stateFile?: string;
  /** The values of the environment that are redacted in what the server sends; by default all of them. */
  readonly secrets?: readonly string[];
}

export type McpEndpoint = HttpEndpoint | ProcessEndpoint;
