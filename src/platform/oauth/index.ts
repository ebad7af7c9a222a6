export { MAX_TOKEN_LENGTH, REFRESH_MARGIN_MS, REMOVE_SIGN_INS_EVERY_MINUTES, SIGN_IN_LIFETIME_MS } from './limits.js';
export { type GrantOwner, grantProperties, signInProperties } from './oauth.entities.js';
export {
  type GrantSecrets,
  OAuthGrants,
  GrantRejected,
  type Tokens,
  type Unusable,
  type UsableGrant,
} from './oauth-grants.js';
export { isScope, type ReceivedTokens, receivedTokens, UnusableTokens } from './received-tokens.js';
export { SignInFailed } from './sign-in-failed.js';
export { type AuthorizationResponse, randomText, sha256, SignIns, type TakenSignIn } from './sign-ins.js';
