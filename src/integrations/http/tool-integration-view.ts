import type { IntegrationWithState } from '../application/integration-with-state.js';
import {
  environmentField,
  headerField,
  type Integration,
  type IntegrationAuth,
  type IntegrationSettings,
  type IntegrationType,
  isOrganizationWide,
  type StoredHeader,
  type TransportType,
  type WorkflowAuthType,
} from '../domain/integration.js';
import {
  type IntegrationOverview,
  type IntegrationStatus,
  NOT_CONNECTED_YET,
  shownDescription,
} from '../domain/tool-list.js';

/** A reference to a stored secret, without its value. */
export interface VaultReference {
  readonly type: 'vault';
  readonly keyName: string;
}

type SettingsView =
  | {
      readonly app: string;
      readonly secrets: { readonly envMap: Readonly<Record<string, VaultReference>> };
    }
  | { readonly nameSlug: string; readonly authType: WorkflowAuthType | null }
  | {
      readonly app: string;
      readonly url: string;
      readonly transportType: TransportType;
      readonly auth: IntegrationAuth;
      readonly httpHeaders: Readonly<Record<string, VaultReference | (StoredHeader & { readonly type: 'plain_text' })>>;
    };

export type ToolIntegrationView = SettingsView & {
  readonly id: string;
  readonly type: IntegrationType;
  readonly scope: 'agent' | 'organization';
  readonly excludedTools: readonly string[];
  readonly status: IntegrationStatus;
  readonly error: string | null;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly excluded: boolean }[];
  readonly createdAt: string;
  readonly updatedAt: string;
};

export function toolIntegrationView({ integration, state }: IntegrationWithState): ToolIntegrationView {
  const { id, settings, excludedTools, createdAt, updatedAt } = integration;
  return {
    id,
    type: settings.type,
    ...settingsView(settings),
    scope: isOrganizationWide(settings) ? 'organization' : 'agent',
    excludedTools,
    ...stateView(integration, state),
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

function settingsView(settings: IntegrationSettings): SettingsView {
  switch (settings.type) {
    case 'managed-mcp': {
      const { app, envNames } = settings;
      const entries = envNames.map((name) => [name, inVault(environmentField(name))]);
      return { app, secrets: { envMap: Object.fromEntries(entries) as Record<string, VaultReference> } };
    }
    case 'workflow-platform':
      return { nameSlug: settings.nameSlug, authType: settings.authType };
    case 'custom-mcp': {
      const { app, url, transportType, auth, headers } = settings;
      const shown = Object.entries(headers).map(
        ([name, header]) => [name, header.type === 'secret' ? inVault(headerField(name)) : header] as const,
      );
      return { app, url, transportType, auth, httpHeaders: Object.fromEntries(shown) };
    }
    default:
      return settings satisfies never;
  }
}

/** A state of an older revision says nothing about the current server. */
function stateView(
  { revision, excludedTools }: Integration,
  state: IntegrationOverview | null,
): Pick<ToolIntegrationView, 'status' | 'error' | 'tools'> {
  if (state?.revision !== revision) return { status: 'error', error: NOT_CONNECTED_YET, tools: [] };
  const excluded = new Set(excludedTools);
  const tools = state.tools.map(({ name, description }) => ({
    ...{ name, description: shownDescription(description) },
    excluded: excluded.has(name),
  }));
  return { status: state.status, error: state.error, tools };
}

function inVault(keyName: string): VaultReference {
  return { type: 'vault', keyName };
}
