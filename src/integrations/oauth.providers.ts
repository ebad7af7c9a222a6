import type { Provider } from '@nestjs/common';
import { RemoveExpiredSignIns } from './jobs/remove-expired-sign-ins.job.js';
import { ClientIdentity } from './oauth/client-identity.js';
import { CompleteSignIn } from './oauth/complete-sign-in.js';
import { DiscoverAuthorization } from './oauth/discover-authorization.js';
import { OAuthGrants } from './oauth/oauth-grants.js';
import { OAuthHttp } from './oauth/oauth-http.js';
import { OpenSignIns } from './oauth/open-sign-ins.js';
import { RegisterClient } from './oauth/register-client.js';
import { StartSignIn } from './oauth/start-sign-in.js';

/** What signs in to tool servers and keeps their tokens; needs `OAuthIntegrations`. */
export const oauthProviders: readonly Provider[] = [
  ClientIdentity,
  CompleteSignIn,
  DiscoverAuthorization,
  OAuthGrants,
  OAuthHttp,
  OpenSignIns,
  RegisterClient,
  RemoveExpiredSignIns,
  StartSignIn,
];
