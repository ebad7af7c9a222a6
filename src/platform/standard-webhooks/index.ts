export { newSigningSecret, signatureHeaders, type SignedMessage } from './signature.js';
export { rotatedSecret, type SigningSecret, validSecrets } from './signing-secret.js';
