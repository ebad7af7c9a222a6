import { computeScopeUnion } from '@modelcontextprotocol/client';

/** What decides which permissions a sign-in asks for. */
export interface ScopeSources {
  /** Of the server's `WWW-Authenticate`. */
  readonly challenged?: string | undefined;
  /** `scopes_supported` of the protected resource. */
  readonly supported?: readonly string[] | undefined;
  /** What an earlier sign-in was given and what a later call lacked. */
  readonly stepUp?: { readonly granted: string | null; readonly needed: string } | undefined;
  /** `scopes_supported` of the authorization server. */
  readonly ofAuthorizationServer?: readonly string[] | undefined;
}

/** Servers that know it give a refresh token only where it is asked for. */
const OFFLINE_ACCESS = 'offline_access';

/** @returns undefined where nothing says what to ask for */
export function scopeToRequest({ challenged, supported, stepUp, ofAuthorizationServer }: ScopeSources): string | undefined {
  const base = challenged ?? supported?.join(' ');
  const scope = stepUp ? computeScopeUnion(base, stepUp.granted ?? undefined, stepUp.needed) : computeScopeUnion(base);
  if (scope === undefined || !ofAuthorizationServer?.includes(OFFLINE_ACCESS)) return scope;
  return computeScopeUnion(scope, OFFLINE_ACCESS);
}
