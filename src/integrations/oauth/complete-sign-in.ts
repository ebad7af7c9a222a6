import {
  exchangeAuthorization,
  IssuerMismatchError,
  OAuthError,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import {
  type AuthorizationResponse,
  type ReceivedTokens,
  receivedTokens,
  SignInFailed,
  UnusableTokens,
} from '../../platform/oauth/index.js';
import { CheckWhenServerChanges } from '../application/check-when-server-changes.js';
import { waitAtMost } from '../application/wait-at-most.js';
import { SIGNED_IN_WAIT_MS } from '../limits.js';
import { OAuthGrantChanged } from '../domain/integrations.events.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import type { StoredOAuthSignIn } from '../persistence/oauth.schema.js';
import { REQUEST_MS } from './limits.js';
import { integrationChanged, wrongIssuer } from './oauth.errors.js';
import { issuerOf, requestOptions, type SignInSecrets, signInSecretsSchema } from './oauth-client.js';
import { OAuthHttp } from './oauth-http.js';
import { IntegrationGrants } from './integration-grants.js';
import { OpenSignIns } from './open-sign-ins.js';
import { ProtectedServers } from './protected-servers.js';

/** Completes a sign-in with the parameters of the redirect. The last completed sign-in of an integration counts. */
@Injectable()
export class CompleteSignIn {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly servers: ProtectedServers,
    private readonly checks: CheckWhenServerChanges,
    private readonly http: OAuthHttp,
    private readonly grants: IntegrationGrants,
    private readonly signIns: OpenSignIns,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * @returns where the browser is redirected
   * @throws SignInFailed. A failed sign-in cannot be completed again
   */
  async execute(response: AuthorizationResponse): Promise<string> {
    const taken = await this.signIns.take(response.state);
    if (!taken) throw SignInFailed.unknown();
    const { signIn } = taken;
    const secrets = signInSecretsSchema.parse(JSON.parse(taken.secret));
    const code = codeOf(response, secrets);
    await this.checkServer(signIn);
    const received = await this.exchange(secrets, code, response.iss);
    await this.store(signIn, secrets, received);
    const { organizationId, ownerId: integrationId, redirectUrl } = signIn;
    this.events.publish(new OAuthGrantChanged(organizationId, integrationId));
    await waitAtMost(this.clock, SIGNED_IN_WAIT_MS, this.checks.grantChecked(integrationId));
    return redirectUrl;
  }

  /** A code for an earlier address cannot be exchanged, and a stale grant would replace one that works. */
  private async checkServer({ organizationId, ownerId, serverUrl }: StoredOAuthSignIn): Promise<void> {
    const integration = await this.integrations.find(organizationId, ownerId);
    if (!integration || this.servers.of(integration)?.url !== serverUrl) throw integrationChanged();
  }

  private async exchange(
    { client, codeVerifier }: SignInSecrets,
    code: string,
    iss: string | undefined,
  ): Promise<ReceivedTokens> {
    try {
      const answer = await exchangeAuthorization(client.authorizationServerUrl, {
        ...requestOptions(client),
        authorizationCode: code,
        codeVerifier,
        redirectUri: client.redirectUri,
        ...(iss !== undefined && { iss }),
        fetchFn: this.http.refusingErrors(REQUEST_MS),
      });
      return receivedTokens(answer, this.clock.now());
    } catch (error) {
      throw exchangeFailure(error);
    }
  }

  private async store(
    { organizationId, ownerId, serverUrl }: StoredOAuthSignIn,
    { client, requestedScope }: SignInSecrets,
    { accessToken, refreshToken, scope, ...times }: ReceivedTokens,
  ): Promise<void> {
    const grant = {
      ...{ organizationId, ownerId, serverUrl, issuer: issuerOf(client), status: 'authorized' as const },
      ...{ scope: scope ?? requestedScope ?? null, neededScope: null },
      ...{ version: newId(), generation: newId(), ...times, updatedAt: times.receivedAt },
    };
    await this.database.transaction(async (transaction) => {
      // A removal deletes the secrets first. Without the lock the secrets of this grant could remain.
      if (!(await this.integrations.lock(transaction, organizationId, ownerId))) throw integrationChanged();
      await this.grants.put(transaction, grant, {
        tokens: { accessToken, refreshToken, serverUrl },
        client: JSON.stringify(client),
      });
    });
  }
}

/** Checks the issuer before the other parameters (RFC 9207). */
function codeOf({ code, iss, error }: AuthorizationResponse, { client: { metadata } }: SignInSecrets): string {
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
  } catch {
    throw wrongIssuer();
  }
  if (error !== undefined) throw SignInFailed.denied('server');
  if (code === undefined) throw SignInFailed.withoutCode('server');
  return code;
}

function exchangeFailure(error: unknown): SignInFailed {
  if (error instanceof IssuerMismatchError) return wrongIssuer();
  if (error instanceof DomainError) return SignInFailed.unreachable('server', error.detail ?? error.message);
  if (error instanceof OAuthError) return SignInFailed.refused('server', error.code);
  if (error instanceof UnusableTokens) return SignInFailed.refused('server', error.message);
  return SignInFailed.refused('server', error instanceof Error ? error.name : undefined);
}
