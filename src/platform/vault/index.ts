export { loadMasterKey } from './load-master-key.js';
export { MasterKey } from './master-key.js';
export { SecretUnreadable, Vault, type SecretRef } from './vault.js';
export { VaultModule } from './vault.module.js';
export { vaultSchema } from './vault.schema.js';
