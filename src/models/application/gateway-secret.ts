import type { SecretRef } from '../../platform/vault/index.js';

/** Where the vault keeps the token of the organization's gateway. */
export function gatewayTokenRef(organizationId: string): SecretRef {
  return { organizationId, recordId: organizationId, field: 'aiGateway.token' };
}
