import type { SecretRef } from '../../platform/vault/index.js';

/** The token for the organization's gateway. */
export function gatewayTokenOf(organizationId: string): SecretRef {
  return { organizationId, recordId: organizationId, field: 'aiGateway.token' };
}
