import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
} from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock, untilAborted } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EgressFailed, EgressRefused } from '../../platform/egress/index.js';
import { EventBus } from '../../platform/events/index.js';
import {
  type GrantOwner,
  type GrantSecrets,
  isScope,
  OAuthGrants,
  type ReceivedTokens,
  receivedTokens,
  GrantRejected,
  type Tokens,
  type Unusable,
  type UsableGrant,
} from '../../platform/oauth/index.js';
import { Vault } from '../../platform/vault/index.js';
import { OAuthGrantChanged } from '../domain/integrations.events.js';
import type { TokenSource } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { StoredOAuthGrant } from '../persistence/oauth.schema.js';
import { CACHE_MS, CACHED_GRANTS, REFUSED_TOKENS_PAUSE_MS, REQUEST_MS } from './limits.js';
import { needsAuthorization } from './oauth.errors.js';
import { clientIn, requestOptions } from './oauth-client.js';
import { OAuthHttp } from './oauth-http.js';
import type { ProtectedServer } from './protected-servers.js';

interface LoadedGrant {
  readonly grant: StoredOAuthGrant | null;
  readonly tokens: Tokens | undefined;
}

/** Errors after which the server never accepts the refresh token or its client again. */
const FINAL_REFUSALS: readonly string[] = [
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
  OAuthErrorCode.UnsupportedGrantType,
];

/** The grants of integrations, and the tokens that connections to their servers use. */
@Injectable()
export class IntegrationGrants extends OAuthGrants<StoredOAuthGrant> {
  private readonly cache: TtlCache<LoadedGrant>;

  constructor(
    database: Database,
    vault: Vault,
    clock: Clock,
    private readonly http: OAuthHttp,
    private readonly events: EventBus,
  ) {
    super({ database, vault, clock }, StoredOAuthGrant, 'oauth');
    this.cache = new TtlCache({ clock, ttlMs: CACHE_MS, maxEntries: CACHED_GRANTS });
    events.subscribe(OAuthGrantChanged, ({ organizationId, integrationId }) =>
      this.cache.delete(keyOf({ organizationId, id: integrationId })),
    );
  }

  /** Changes with every sign-in and when the grant is lost, but not with a refresh; null without a grant for this address. */
  async versionOf(server: ProtectedServer): Promise<string | null> {
    const { grant } = await this.load(ownerOf(server));
    return grant?.serverUrl === server.url ? `${grant.version}/${grant.status}` : null;
  }

  /** Whether calls were refused since the sign-in because it gave too few permissions. */
  async lacksPermissions(server: ProtectedServer): Promise<boolean> {
    const { grant } = await this.load(ownerOf(server));
    return grant?.serverUrl === server.url && grant.status === 'authorized' && grant.neededScope !== null;
  }

  /** For connections to the server at this address only. */
  tokensFor(server: ProtectedServer): TokenSource {
    return {
      current: (signal) => untilAborted(this.currentFor(server), signal),
      replace: (rejected, challenge, signal) => untilAborted(this.replace(server, rejected, challenge), signal),
    };
  }

  private async currentFor(server: ProtectedServer): Promise<string> {
    await this.usableFor(server);
    return tokenFor(server, await this.current(ownerOf(server)));
  }

  private async replace(server: ProtectedServer, rejected: string, challenge: string | null): Promise<string> {
    const owner = ownerOf(server);
    this.cache.delete(keyOf(owner));
    const usable = await this.usableFor(server);
    const accessToken = tokenFor(server, usable);
    // Another caller has already replaced it.
    if (accessToken !== rejected) return accessToken;
    const { error, scope } = paramsOf(challenge);
    if (error === 'insufficient_scope') {
      await this.noteScope(usable.grant, scope);
      throw needsAuthorization('scope');
    }
    if (this.isFresh(usable.grant)) throw needsAuthorization('refused');
    await this.refresh(owner, usable.grant.generation);
    return tokenFor(server, await this.usable(owner));
  }

  /** @throws McpFailure `needs_authorization` */
  private async usableFor(server: ProtectedServer): Promise<UsableGrant<StoredOAuthGrant>> {
    const { grant } = await this.load(ownerOf(server));
    if (grant?.serverUrl !== server.url) throw needsAuthorization('none');
    return this.usable(ownerOf(server));
  }

  /** False if the clock was set back. */
  private isFresh({ receivedAt }: StoredOAuthGrant): boolean {
    const age = this.clock.now().getTime() - receivedAt.getTime();
    return age >= 0 && age < REFUSED_TOKENS_PAUSE_MS;
  }

  /** A refresh gives no more permissions than the sign-in, so the next sign-in requests them. */
  private async noteScope(
    { organizationId, ownerId, version, neededScope }: StoredOAuthGrant,
    scope: string | undefined,
  ): Promise<void> {
    const needed =
      scope === undefined || !isScope(scope) ? undefined : computeScopeUnion(neededScope ?? undefined, scope);
    if (needed === undefined || needed === neededScope || !isScope(needed)) return;
    await this.database.write((em) =>
      em.nativeUpdate(StoredOAuthGrant, { organizationId, ownerId, version }, { neededScope: needed }),
    );
    this.events.publish(new OAuthGrantChanged(organizationId, ownerId));
  }

  protected override async load(owner: GrantOwner): Promise<LoadedGrant> {
    return (await this.cache.get(keyOf(owner), () => super.load(owner))) ?? { grant: null, tokens: undefined };
  }

  protected override async refresh(owner: GrantOwner, generation: string): Promise<void> {
    await super.refresh(owner, generation).finally(() => this.cache.delete(keyOf(owner)));
  }

  protected async request({ tokens: { refreshToken = '' }, client: json }: GrantSecrets): Promise<ReceivedTokens> {
    if (json === undefined) throw new GrantRejected();
    const client = clientIn(json);
    try {
      const fetchFn = this.http.refusingErrors(REQUEST_MS);
      const answer = await refreshAuthorization(client.authorizationServerUrl, {
        ...requestOptions(client),
        refreshToken,
        fetchFn,
      });
      return receivedTokens(answer, this.clock.now());
    } catch (error) {
      if (error instanceof OAuthError && FINAL_REFUSALS.includes(error.code)) throw new GrantRejected();
      throw temporaryFailure(error);
    }
  }

  protected failure(why: Unusable): McpFailure {
    return why === 'busy'
      ? unavailable('unreachable', 'another process did not finish its refresh')
      : needsAuthorization(why);
  }

  protected override columnsOf({ scope, receivedAt }: ReceivedTokens): Partial<StoredOAuthGrant> {
    return { receivedAt, updatedAt: receivedAt, ...(scope !== undefined && { scope }) };
  }

  protected override lost({ organizationId, id }: GrantOwner): void {
    this.events.publish(new OAuthGrantChanged(organizationId, id));
  }
}

export function ownerOf({
  organizationId,
  integrationId,
}: Pick<ProtectedServer, 'organizationId' | 'integrationId'>): GrantOwner {
  return { organizationId, id: integrationId };
}

function keyOf({ organizationId, id }: GrantOwner): string {
  return `${organizationId}/${id}`;
}

/** @throws McpFailure `needs_authorization`: a token is only sent to the address that it is valid for, even after another sign-in */
function tokenFor(server: ProtectedServer, { grant, tokens }: UsableGrant<StoredOAuthGrant>): string {
  if (grant.serverUrl !== server.url || tokens.serverUrl !== server.url) throw needsAuthorization('gone');
  return tokens.accessToken;
}

function paramsOf(challenge: string | null): ReturnType<typeof extractWWWAuthenticateParams> {
  if (challenge === null || !/^[\t\x20-\x7e]*$/.test(challenge)) return {};
  return extractWWWAuthenticateParams(new Response(null, { status: 401, headers: { 'www-authenticate': challenge } }));
}

function temporaryFailure(error: unknown): McpFailure {
  if (error instanceof EgressRefused) return unavailable('refused', error.message);
  if (error instanceof EgressFailed)
    return unavailable(error.reason === 'timeout' ? 'timeout' : 'unreachable', error.detail ?? error.reason);
  if (error instanceof OAuthError) return unavailable('unreachable', error.code);
  return unavailable('unreachable', error instanceof Error ? error.name : undefined);
}

function unavailable(reason: 'unreachable' | 'refused' | 'timeout', detail: string | undefined): McpFailure {
  const message =
    'The authorization server of the tool server does not renew the access at the moment. Try again later.';
  return new McpFailure(reason, message, detail === undefined ? {} : { detail });
}
