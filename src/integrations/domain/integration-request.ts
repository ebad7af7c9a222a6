import type { IntegrationSettings } from './integration.js';

/** A header that keeps its stored value. */
export interface KeptHeader {
  /** As it was sent. */
  readonly name: string;
  /** The `keyName` that the caller sent, if any. */
  readonly keyName: string | undefined;
}

/** The integration that a caller describes, validated as far as possible without the stored one. */
export interface IntegrationRequest {
  readonly settings: IntegrationSettings;
  /** Sorted, each once. */
  readonly excludedTools: readonly string[];
  /** The secrets that were sent, by the vault's field. */
  readonly newSecrets: ReadonlyMap<string, string>;
  readonly keptHeaders: readonly KeptHeader[];
  /** True for a `managed-mcp` without `secrets`: the stored environment stays, and `settings` names none. */
  readonly keepsEnvironment: boolean;
}

/** The settings after the request is applied to the stored ones. */
export function settingsAfter(request: IntegrationRequest, stored: IntegrationSettings): IntegrationSettings {
  const { settings, keepsEnvironment } = request;
  if (!keepsEnvironment || settings.type !== 'managed-mcp' || stored.type !== 'managed-mcp') return settings;
  return { ...settings, envNames: stored.envNames };
}

/** Whether stored secrets would be sent to another origin after the change. */
export function leavesOrigin(before: IntegrationSettings, after: IntegrationSettings): boolean {
  if (before.type !== 'custom-mcp' || after.type !== 'custom-mcp') return false;
  return new URL(before.url).origin !== new URL(after.url).origin;
}

/** Whether the change makes OAuth tokens useless. */
export function leavesOAuth(before: IntegrationSettings, after: IntegrationSettings): boolean {
  if (before.type !== 'custom-mcp' || after.type !== 'custom-mcp') return false;
  return before.auth.type === 'oauth' && after.auth.type !== 'oauth';
}
