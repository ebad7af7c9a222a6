import type { Provider } from '@nestjs/common';
import { RemoveExpiredSignIns } from './jobs/remove-expired-sign-ins.job.js';
import { ClientIdentity } from './oauth/client-identity.js';
import { CompleteSignIn } from './oauth/complete-sign-in.js';
import { DiscoverAuthorization } from './oauth/discover-authorization.js';
import { OAuthGrants } from './oauth/oauth-grants.js';
import { OAuthHttp } from './oauth/oauth-http.js';
import { OAuthSecrets } from './oauth/oauth-secrets.js';
import { RefreshGrant } from './oauth/refresh-grant.js';
import { RegisterClient } from './oauth/register-client.js';
import { StartSignIn } from './oauth/start-sign-in.js';
import { OAuthGrantRepository } from './persistence/oauth-grant.repository.js';
import { OAuthSignInRepository } from './persistence/oauth-sign-in.repository.js';

/** What signs in to tool servers and keeps their tokens; needs `OAuthIntegrations`. */
export const oauthProviders: readonly Provider[] = [
  ClientIdentity,
  CompleteSignIn,
  DiscoverAuthorization,
  OAuthGrantRepository,
  OAuthGrants,
  OAuthHttp,
  OAuthSecrets,
  OAuthSignInRepository,
  RefreshGrant,
  RegisterClient,
  RemoveExpiredSignIns,
  StartSignIn,
];
