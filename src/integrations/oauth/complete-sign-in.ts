import { exchangeAuthorization, IssuerMismatchError, OAuthError, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { OAuthGrantRepository } from '../persistence/oauth-grant.repository.js';
import { type OAuthSignIn, OAuthSignInRepository } from '../persistence/oauth-sign-in.repository.js';
import { REQUEST_MS } from './limits.js';
import { OAuthGrantChanged } from './oauth.events.js';
import { SignInFailed } from './oauth.errors.js';
import { issuerOf, requestOptions, type SignInSecrets } from './oauth-client.js';
import { OAuthHttp } from './oauth-http.js';
import { OAuthSecrets } from './oauth-secrets.js';
import { OAuthIntegrations } from './protected-server.js';
import { type ReceivedTokens, receivedTokens, UnusableTokens } from './received-tokens.js';
import { digestOf } from './start-sign-in.js';

/** What the authorization server sent the browser back with. */
export interface AuthorizationResponse {
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly iss: string | undefined;
  readonly error: string | undefined;
}

interface TakenSignIn {
  readonly signIn: OAuthSignIn;
  readonly secrets: SignInSecrets;
}

/** Completes a sign-in with what the browser brings back. Of several that are completed the last one counts. */
@Injectable()
export class CompleteSignIn {
  constructor(
    private readonly integrations: OAuthIntegrations,
    private readonly records: IntegrationRepository,
    private readonly http: OAuthHttp,
    private readonly grants: OAuthGrantRepository,
    private readonly signIns: OAuthSignInRepository,
    private readonly secrets: OAuthSecrets,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * @returns where the browser goes on
   * @throws SignInFailed; the sign-in is used up all the same
   */
  async execute(response: AuthorizationResponse): Promise<string> {
    const taken = await this.take(response.state);
    const code = codeOf(response, taken.secrets);
    await this.checkServer(taken.signIn);
    const received = await this.exchange(taken.secrets, code, response.iss);
    await this.store(taken, received);
    const { organizationId, integrationId, redirectUrl } = taken.signIn;
    this.events.publish(new OAuthGrantChanged(organizationId, integrationId));
    await this.integrations.signedIn(integrationId);
    return redirectUrl;
  }

  private async take(state: string | undefined): Promise<TakenSignIn> {
    if (state === undefined) throw SignInFailed.unknown();
    const taken = await this.database.transaction(async (transaction) => {
      const signIn = await this.signIns.take(transaction, digestOf(state));
      const secrets = signIn && (await this.secrets.takeSignIn(transaction, signIn, signIn.stateDigest));
      return signIn && secrets && { signIn, secrets };
    });
    if (!taken || taken.signIn.expiresAt <= this.clock.now()) throw SignInFailed.unknown();
    return taken;
  }

  /** A code that was made for one address is no use, and a stale grant would replace one that works. */
  private async checkServer({ organizationId, integrationId, serverUrl }: OAuthSignIn): Promise<void> {
    const server = await this.integrations.serverOf(organizationId, integrationId);
    if (server?.url !== serverUrl) throw SignInFailed.changed();
  }

  private async exchange({ client, codeVerifier }: SignInSecrets, code: string, iss: string | undefined): Promise<ReceivedTokens> {
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

  private async store({ signIn, secrets }: TakenSignIn, { tokens, scope, ...times }: ReceivedTokens): Promise<void> {
    const { organizationId, integrationId, serverUrl } = signIn;
    const { client, requestedScope = null } = secrets;
    const grant = {
      ...{ organizationId, integrationId, serverUrl, issuer: issuerOf(client), status: 'authorized' as const },
      ...{ scope: scope ?? requestedScope, neededScope: null, version: newId(), generation: newId(), ...times },
    };
    await this.database.transaction(async (transaction) => {
      // Removing the integration takes its secrets first: those of a grant that is stored meanwhile would stay behind.
      if (!(await this.records.lock(transaction, organizationId, integrationId))) throw SignInFailed.changed();
      await this.grants.put(transaction, grant, this.clock.now());
      await this.secrets.putGrant(transaction, signIn, { tokens: { ...tokens, serverUrl }, client });
    });
  }
}

/** Nothing that the browser brings is looked at before the issuer is known to be the one that was asked (RFC 9207). */
function codeOf({ code, iss, error }: AuthorizationResponse, { client: { metadata } }: SignInSecrets): string {
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
  } catch {
    throw SignInFailed.wrongIssuer();
  }
  if (error !== undefined) throw SignInFailed.denied();
  if (code === undefined) throw SignInFailed.withoutCode();
  return code;
}

function exchangeFailure(error: unknown): SignInFailed {
  if (error instanceof IssuerMismatchError) return SignInFailed.wrongIssuer();
  if (error instanceof DomainError) return SignInFailed.unreachable(error.detail ?? error.message);
  if (error instanceof OAuthError) return SignInFailed.refused(error.code);
  if (error instanceof UnusableTokens) return SignInFailed.refused(error.message);
  return SignInFailed.refused(error instanceof Error ? error.name : undefined);
}
