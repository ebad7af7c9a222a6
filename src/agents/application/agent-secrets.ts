import type { Transaction } from '../../platform/database/index.js';
import { type SecretRef, SecretUnreadable, type Vault } from '../../platform/vault/index.js';

/** The agent's own key for its provider. */
export function providerKeyOf(organizationId: string, agentId: string): SecretRef {
  return { organizationId, recordId: agentId, field: 'provider.apiKey' };
}

/** The token for the agent's own gateway. */
export function gatewayTokenOf(organizationId: string, agentId: string): SecretRef {
  return { organizationId, recordId: agentId, field: 'aiGateway.token' };
}

/** @returns false when the same secret was already stored */
export async function replaceSecret(
  vault: Vault,
  transaction: Transaction,
  ref: SecretRef,
  secret: string,
): Promise<boolean> {
  if ((await storedSecret(vault, transaction, ref)) === secret) return false;
  await vault.put(transaction, ref, secret);
  return true;
}

/** A secret that cannot be decrypted counts as missing, so that a customer can replace it. */
async function storedSecret(vault: Vault, transaction: Transaction, ref: SecretRef): Promise<string | undefined> {
  try {
    return (await vault.readMany([ref], transaction))[0];
  } catch (error) {
    if (error instanceof SecretUnreadable) return undefined;
    throw error;
  }
}
