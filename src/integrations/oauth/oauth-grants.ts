import { computeScopeUnion, extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock, untilAborted } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import type { TokenSource } from '../mcp/mcp-endpoint.js';
import { McpFailure } from '../mcp/mcp-failure.js';
import { OAuthGrantRepository } from '../persistence/oauth-grant.repository.js';
import { CACHE_MS, CACHED_GRANTS, REFUSED_TOKENS_PAUSE_MS } from './limits.js';
import { needsAuthorization } from './needs-authorization.js';
import { OAuthGrantChanged } from './oauth.events.js';
import { type OAuthGrant, stateFor } from './oauth-grant.js';
import type { Tokens } from './oauth-client.js';
import { OAuthSecrets } from './oauth-secrets.js';
import type { ProtectedServer } from './protected-server.js';
import { RefreshGrant } from './refresh-grant.js';
import { isScope } from './scopes.js';

interface LoadedGrant {
  readonly grant: OAuthGrant | null;
  readonly tokens: Tokens | undefined;
}

interface UsableGrant {
  readonly grant: OAuthGrant;
  readonly accessToken: string;
}

/** The grants of integrations, and the tokens that connections to their servers use. */
@Injectable()
export class OAuthGrants {
  private readonly cache: TtlCache<LoadedGrant>;

  constructor(
    private readonly grants: OAuthGrantRepository,
    private readonly secrets: OAuthSecrets,
    private readonly refresh: RefreshGrant,
    private readonly clock: Clock,
    private readonly events: EventBus,
  ) {
    this.cache = new TtlCache({ clock, ttlMs: CACHE_MS, maxEntries: CACHED_GRANTS });
    events.subscribe(OAuthGrantChanged, ({ organizationId, integrationId }) =>
      this.cache.delete(keyOf({ organizationId, integrationId })),
    );
  }

  /** Changes with every sign-in and when the grant is gone, and not when tokens are refreshed; null without a grant for this address. */
  async versionOf(server: ProtectedServer): Promise<string | null> {
    const { grant } = await this.load(server);
    return stateFor(grant, server) === 'none' ? null : (grant?.version ?? null);
  }

  /** Whether calls were refused since the sign-in because it gave too few permissions. */
  async lacksPermissions(server: ProtectedServer): Promise<boolean> {
    const { grant } = await this.load(server);
    return stateFor(grant, server) === 'authorized' && grant?.neededScope !== null;
  }

  /** For connections to the server at this address alone. */
  tokensFor(server: ProtectedServer): TokenSource {
    return {
      current: (signal) => untilAborted(this.current(server), signal),
      replace: (rejected, challenge, signal) => untilAborted(this.replace(server, rejected, challenge), signal),
    };
  }

  private async current(server: ProtectedServer): Promise<string> {
    const { grant, accessToken } = usable(await this.load(server), server);
    if (grant.refreshAt === null || grant.refreshAt > this.clock.now()) return accessToken;
    try {
      return await this.refreshed(server, grant);
    } catch (error) {
      const isPassing = error instanceof McpFailure && error.reason !== 'needs_authorization';
      if (isPassing && grant.expiresAt !== null && grant.expiresAt > this.clock.now()) return accessToken;
      throw error;
    }
  }

  private async replace(server: ProtectedServer, rejected: string, challenge: string | null): Promise<string> {
    this.cache.delete(keyOf(server));
    const { grant, accessToken } = usable(await this.load(server), server);
    // Somebody else has replaced it already.
    if (accessToken !== rejected) return accessToken;
    const { error, scope } = paramsOf(challenge);
    if (error === 'insufficient_scope') {
      await this.noteScope(grant, scope);
      throw needsAuthorization('scope');
    }
    if (this.isFresh(grant)) throw needsAuthorization('refused');
    return this.refreshed(server, grant);
  }

  /** Where the clock was set back nobody knows. */
  private isFresh({ receivedAt }: OAuthGrant): boolean {
    const age = this.clock.now().getTime() - receivedAt.getTime();
    return age >= 0 && age < REFUSED_TOKENS_PAUSE_MS;
  }

  private async refreshed(server: ProtectedServer, grant: OAuthGrant): Promise<string> {
    try {
      await this.refresh.execute(grant);
    } finally {
      this.cache.delete(keyOf(server));
    }
    return usable(await this.load(server), server).accessToken;
  }

  /** A refresh gives no more permissions than the sign-in did, so the next sign-in asks for them. */
  private async noteScope({ organizationId, integrationId, version, neededScope }: OAuthGrant, scope: string | undefined): Promise<void> {
    const needed = scope === undefined || !isScope(scope) ? undefined : computeScopeUnion(neededScope ?? undefined, scope);
    if (needed === undefined || needed === neededScope || !isScope(needed)) return;
    await this.grants.setNeededScope(organizationId, integrationId, version, needed);
    this.events.publish(new OAuthGrantChanged(organizationId, integrationId));
  }

  private async load(server: ProtectedServer): Promise<LoadedGrant> {
    const { organizationId, integrationId } = server;
    const loaded = await this.cache.get(keyOf(server), async () => {
      const grant = await this.grants.find(organizationId, integrationId);
      if (grant?.status !== 'authorized') return { grant, tokens: undefined };
      return { grant, tokens: (await this.secrets.readableGrant(server))?.tokens };
    });
    return loaded ?? { grant: null, tokens: undefined };
  }
}

function keyOf({ organizationId, integrationId }: Pick<ProtectedServer, 'organizationId' | 'integrationId'>): string {
  return `${organizationId}/${integrationId}`;
}

/** @throws McpFailure `needs_authorization`: a token never goes to another address than it was made for */
function usable({ grant, tokens }: LoadedGrant, server: ProtectedServer): UsableGrant {
  const state = stateFor(grant, server);
  if (state !== 'authorized') throw needsAuthorization(state);
  // The two are read one after the other, and somebody may have signed in between.
  if (!grant || tokens?.serverUrl !== server.url) throw needsAuthorization('gone');
  return { grant, accessToken: tokens.accessToken };
}

function paramsOf(challenge: string | null): { readonly error?: string | undefined; readonly scope?: string | undefined } {
  if (challenge === null || !/^[\t\x20-\x7e]*$/.test(challenge)) return {};
  return extractWWWAuthenticateParams(new Response(null, { status: 401, headers: { 'www-authenticate': challenge } }));
}
