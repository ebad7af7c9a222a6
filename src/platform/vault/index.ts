export { ConfidentialTexts } from './confidential-texts.js';
export { KEY_FILES } from './key-files.js';
export { MasterKey } from './master-key.js';
export { MasterKeys } from './master-keys.js';
export { RotateSecrets, type RotationResult } from './rotate-secrets.js';
export { type SecretRef, SecretUnreadable } from './sealed-secret.js';
export { Vault } from './vault.js';
export { VaultModule } from './vault.module.js';
export { vaultSchema } from './vault.schema.js';
