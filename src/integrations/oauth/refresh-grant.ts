import { OAuthError, OAuthErrorCode, refreshAuthorization } from '@modelcontextprotocol/client';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, DatabaseUnavailable } from '../../platform/database/index.js';
import { EgressFailed, EgressRefused } from '../../platform/egress/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { OAuthGrantRepository, type RefreshClaim } from '../persistence/oauth-grant.repository.js';
import { REFRESH_LEASE_MS, REFRESH_POLL_MS, REFRESH_WAIT_MS, REQUEST_MS, SAVE_PAUSE_MS, SAVE_WAIT_MS } from './limits.js';
import { OAuthGrantChanged } from './oauth.events.js';
import { needsAuthorization } from './needs-authorization.js';
import { requestOptions, type Tokens } from './oauth-client.js';
import type { OAuthGrant } from './oauth-grant.js';
import { OAuthHttp } from './oauth-http.js';
import { type GrantSecrets, OAuthSecrets } from './oauth-secrets.js';
import { type ReceivedTokens, receivedTokens } from './received-tokens.js';

/** Answers after which the refresh token, or the client it belongs to, will never be accepted again. */
const FINAL_REFUSALS: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
  OAuthErrorCode.UnsupportedGrantType,
];

/**
 * Replaces the tokens of a grant: one refresh at a time, whatever the number of processes, because many servers revoke a
 * grant whose refresh token comes twice. The claim is a row, so that nothing is held while the network is waited for.
 */
@Injectable()
export class RefreshGrant implements BeforeApplicationShutdown {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly http: OAuthHttp,
    private readonly grants: OAuthGrantRepository,
    private readonly secrets: OAuthSecrets,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {}

  /**
   * Resolves once the grant has other tokens than those of `generation`, whoever got them.
   * @throws McpFailure `needs_authorization` when the grant is gone; another reason when the server may answer later
   */
  execute({ organizationId, integrationId, generation }: OAuthGrant): Promise<void> {
    const known = this.underWay.get(generation);
    if (known) return known;
    const refresh = this.refresh({ organizationId, integrationId, generation, lease: newId() });
    const settled = refresh.finally(() => this.underWay.delete(generation));
    this.underWay.set(generation, settled);
    return settled;
  }

  /** The server takes the old token no more as soon as it is asked, so that breaking off would lose the grant. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.underWay.values());
  }

  private async refresh(claim: RefreshClaim): Promise<void> {
    const deadline = this.clock.monotonic() + REFRESH_WAIT_MS;
    for (;;) {
      const claimed = await this.claim(claim);
      if (claimed) return this.refreshClaimed(claim, claimed);
      const grant = await this.grants.find(claim.organizationId, claim.integrationId);
      if (grant?.status !== 'authorized') throw needsAuthorization(grant ? 'gone' : 'none');
      if (grant.generation !== claim.generation) return;
      if (this.clock.monotonic() >= deadline) throw unavailable('unreachable', 'another process did not finish its refresh');
      await this.clock.sleep(REFRESH_POLL_MS);
    }
  }

  /** The secrets are read in the transaction of the claim, so that they are those of its generation. */
  private async claim(claim: RefreshClaim): Promise<Claimed | null> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + REFRESH_LEASE_MS);
    return this.database.transaction(async (transaction) => {
      if (!(await this.grants.claim(transaction, claim, now, until))) return null;
      return { secrets: await this.secrets.readGrant(claim, transaction) };
    });
  }

  private async refreshClaimed(claim: RefreshClaim, { secrets }: Claimed): Promise<void> {
    let received: RefreshedTokens;
    try {
      received = await this.request(secrets);
    } catch (error) {
      if (!isFinal(error)) {
        await this.grants.release(claim);
        throw passing(error);
      }
      await this.markGone(claim);
      throw needsAuthorization('gone');
    }
    await this.keep(claim, received);
  }

  /** The server takes the old token no more, so what it gave for it is not given up to a database that is away for a moment. */
  private async keep(claim: RefreshClaim, received: RefreshedTokens): Promise<void> {
    const deadline = this.clock.monotonic() + SAVE_WAIT_MS;
    for (;;) {
      try {
        await this.save(claim, received);
        return;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || this.clock.monotonic() >= deadline) throw error;
        await this.clock.sleep(SAVE_PAUSE_MS);
      }
    }
  }

  private async request(secrets: GrantSecrets | null): Promise<RefreshedTokens> {
    const refreshToken = secrets?.tokens.refreshToken;
    if (!secrets || refreshToken === undefined) throw new NotRefreshable();
    const answer = await refreshAuthorization(secrets.client.authorizationServerUrl, {
      ...requestOptions(secrets.client),
      refreshToken,
      fetchFn: this.http.refusingErrors(REQUEST_MS),
    });
    const received = receivedTokens(answer, this.clock.now());
    return { ...received, tokens: { ...received.tokens, serverUrl: secrets.tokens.serverUrl } };
  }

  /** Does nothing where somebody has signed in again meanwhile: that grant is the newer one. */
  private async save(claim: RefreshClaim, { tokens, scope, ...times }: RefreshedTokens): Promise<void> {
    const changes = { generation: newId(), ...times, ...(scope !== undefined && { scope }) };
    await this.database.transaction(async (transaction) => {
      if (!(await this.grants.saveRefreshed(transaction, claim, changes, this.clock.now()))) return;
      await this.secrets.putTokens(transaction, claim, tokens);
    });
  }

  private async markGone(claim: RefreshClaim): Promise<void> {
    await this.database.transaction(async (transaction) => {
      if (!(await this.grants.markGone(transaction, claim, newId(), this.clock.now()))) return;
      await this.secrets.removeGrant(transaction, claim);
    });
    this.events.publish(new OAuthGrantChanged(claim.organizationId, claim.integrationId));
  }
}

interface Claimed {
  readonly secrets: GrantSecrets | null;
}

type RefreshedTokens = ReceivedTokens & { readonly tokens: Tokens };

/** There is no refresh token, so only a person can get other tokens. */
class NotRefreshable extends Error {}

function isFinal(error: unknown): boolean {
  return error instanceof NotRefreshable || (error instanceof OAuthError && FINAL_REFUSALS.includes(error.code));
}

function passing(error: unknown): McpFailure {
  if (error instanceof EgressRefused) return unavailable('refused', error.message);
  if (error instanceof EgressFailed) return unavailable(error.reason === 'timeout' ? 'timeout' : 'unreachable', error.detail ?? error.reason);
  if (error instanceof OAuthError) return unavailable('unreachable', error.code);
  return unavailable('unreachable', error instanceof Error ? error.name : undefined);
}

function unavailable(reason: 'unreachable' | 'refused' | 'timeout', detail: string | undefined): McpFailure {
  const message = 'The authorization server of the tool server does not renew the access at the moment. Try again later.';
  return new McpFailure(reason, message, detail === undefined ? {} : { detail });
}
