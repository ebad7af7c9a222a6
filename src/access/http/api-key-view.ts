import type { ApiKey } from '../domain/api-key.js';
// Types only, because the command line uses these views without loading the routes.
import type { ApiKeyResponse, CreatedApiKeyResponse } from './api-keys.dto.js';

function fieldsOf(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    last4: key.last4,
    capabilities: key.capabilities,
    agentIds: key.agentIds,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
  };
}

export function createdApiKeyView(key: string, record: ApiKey): CreatedApiKeyResponse {
  return { ...fieldsOf(record), key };
}

export function apiKeyView(key: ApiKey): ApiKeyResponse {
  return { ...fieldsOf(key), lastUsedAt: key.lastUsedAt?.toISOString() ?? null };
}
