export { EgressFailed, type EgressFailure, EgressRefused, type EgressRefusal } from './egress.errors.js';
export { EgressModule } from './egress.module.js';
export { type ConnectorOptions, type Dial } from './guarded-connector.js';
export { isHeaderFieldValue, isHeaderName, repeatedHeader } from './header-syntax.js';
export { NameResolver } from './name-resolver.js';
export { isPublicAddress } from './public-address.js';
export { OperatorHttp } from './operator-http.js';
export { isConnectionHeader } from './request-headers.js';
export { retryAfterMs } from './retry-after.js';
export {
  type EgressAnswer,
  type EgressBody,
  type EgressPurpose,
  type EgressRequest,
  type EgressResponse,
  type FollowRedirects,
  SafeHttp,
} from './safe-http.js';
export { UndiciSafeHttp } from './undici-safe-http.js';
