import type { IntegrationSettings } from './integration.js';

/** A header whose stored value stays. */
export interface KeptHeader {
  /** As it was sent. */
  readonly name: string;
  /** Where the caller believes the value to be; undefined where that was not said. */
  readonly keyName: string | undefined;
}

/** What a caller wants an integration to be, checked as far as that goes without what is stored. */
export interface IntegrationRequest {
  readonly settings: IntegrationSettings;
  /** Sorted, each once. */
  readonly excludedTools: readonly string[];
  /** The secrets that were sent, by the vault's field. */
  readonly newSecrets: ReadonlyMap<string, string>;
  readonly keptHeaders: readonly KeptHeader[];
  /** Of a `managed-mcp` without `secrets`: the stored environment stays, and `settings` names none. */
  readonly keepsEnvironment: boolean;
}

/** The settings that the request makes of those that are stored. */
export function settingsAfter(request: IntegrationRequest, stored: IntegrationSettings): IntegrationSettings {
  const { settings, keepsEnvironment } = request;
  if (!keepsEnvironment || settings.type !== 'managed-mcp' || stored.type !== 'managed-mcp') return settings;
  return { ...settings, envNames: stored.envNames };
}

/** Whether secrets that are stored for `before` would be sent to somebody else after the change. */
export function leavesOrigin(before: IntegrationSettings, after: IntegrationSettings): boolean {
  if (before.type !== 'custom-mcp' || after.type !== 'custom-mcp') return false;
  return new URL(before.url).origin !== new URL(after.url).origin;
}

/** Whether tokens of a grant are of no use after the change. */
export function leavesOAuth(before: IntegrationSettings, after: IntegrationSettings): boolean {
  if (before.type !== 'custom-mcp' || after.type !== 'custom-mcp') return false;
  return before.auth.type === 'oauth' && after.auth.type !== 'oauth';
}
