import { p } from '@mikro-orm/core';

/** The record that a grant belongs to; the vault keeps the grant's secrets under it. */
export interface GrantOwner {
  readonly organizationId: string;
  readonly id: string;
}

/** What the sign-in of a person gave, without its tokens: the columns that every table of grants has. */
export interface StoredGrant {
  ownerId: string;
  organizationId: string;
  status: 'authorized' | 'gone';
  /** Changes with every set of tokens. */
  generation: string;
  /** Null where the authorization server does not say. */
  expiresAt: Date | null;
  /** From when on the access token is replaced. */
  refreshAt: Date | null;
  /** Which refresh is under way, and until when its claim counts. */
  refreshLease: string | null;
  refreshingUntil: Date | null;
}

/** A sign-in that a person has begun: the columns that every table of sign-ins has. Its secret is in the vault, under the digest. */
export interface StoredSignIn {
  /** Of the state that only the browser has. */
  stateDigest: string;
  organizationId: string;
  ownerId: string;
  /** Where the browser goes once the sign-in is completed. */
  redirectUrl: string;
  createdAt: Date;
  expiresAt: Date;
}

/** The mapping of `StoredGrant`. */
export function grantProperties(ownerColumn: string) {
  return {
    ownerId: p.uuid().primary().fieldName(ownerColumn),
    organizationId: p.uuid(),
    status: p.text().$type<StoredGrant['status']>(),
    generation: p.uuid(),
    expiresAt: p.datetime(3).strictNullable(),
    refreshAt: p.datetime(3).strictNullable(),
    refreshLease: p.uuid().strictNullable(),
    refreshingUntil: p.datetime(3).strictNullable(),
  };
}

/** The mapping of `StoredSignIn`. */
export function signInProperties(ownerColumn: string) {
  return {
    stateDigest: p.text().primary(),
    organizationId: p.uuid(),
    ownerId: p.uuid().fieldName(ownerColumn),
    redirectUrl: p.text(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  };
}
