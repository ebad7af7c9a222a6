import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { Database, DatabaseUnavailable } from '../../../../platform/database/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { type DriveGrant, DriveGrantRepository, type DriveRefreshClaim } from '../../persistence/drive-grant.repository.js';
import type { SourceId } from '../../persistence/drive-source.repository.js';
import { REFRESH_LEASE_MS, REFRESH_POLL_MS, REFRESH_WAIT_MS, SAVE_PAUSE_MS, SAVE_WAIT_MS, TOKEN_MARGIN_MS } from '../../limits.js';
import { type GivenTokens, TokenEndpoint } from '../token-endpoint.js';
import { DriveGrantTokens, type DriveTokens } from './drive-grant-tokens.js';

const INVALID_CLIENT = 'invalid_client';

/**
 * Replaces the tokens of a sign-in: one refresh at a time, whatever the number of processes, because drives may revoke a
 * grant whose refresh token comes twice. The claim is a row, so that nothing is held while the network is waited for.
 */
@Injectable()
export class RefreshDriveGrant implements BeforeApplicationShutdown {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly endpoint: TokenEndpoint,
    private readonly grants: DriveGrantRepository,
    private readonly tokens: DriveGrantTokens,
    private readonly settings: Settings,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves once the source has other tokens than those of `generation`, whoever got them.
   * @throws DriveFailure `refused` when the grant is gone; another reason when the drive may answer later
   */
  execute({ organizationId, id }: SourceId, generation: string): Promise<void> {
    const known = this.underWay.get(generation);
    if (known) return known;
    const refresh = this.refresh({ organizationId, id, generation, lease: newId() });
    const settled = refresh.finally(() => this.underWay.delete(generation));
    this.underWay.set(generation, settled);
    return settled;
  }

  /** The drive may take the old token no more as soon as it is asked, so that breaking off would lose the grant. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.allSettled(this.underWay.values());
  }

  private async refresh(claim: DriveRefreshClaim): Promise<void> {
    const deadline = this.clock.monotonic() + REFRESH_WAIT_MS;
    for (;;) {
      const claimed = await this.claim(claim);
      if (claimed) return this.refreshClaimed(claim, claimed.tokens);
      const grant = await this.grants.find(claim);
      if (grant?.status !== 'authorized') throw signInAgain();
      if (grant.generation !== claim.generation) return;
      if (this.clock.monotonic() >= deadline) throw new DriveFailure('unreachable', 'The access to the drive is not renewed at the moment.');
      await this.clock.sleep(REFRESH_POLL_MS);
    }
  }

  /** The tokens are read in the transaction of the claim, so that they are those of its generation. */
  private claim(claim: DriveRefreshClaim): Promise<{ readonly tokens: DriveTokens | null } | null> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + REFRESH_LEASE_MS);
    return this.database.transaction(async (transaction) => {
      if (!(await this.grants.claim(transaction, claim, now, until))) return null;
      return { tokens: await this.tokens.read(claim, transaction) };
    });
  }

  private async refreshClaimed(claim: DriveRefreshClaim, tokens: DriveTokens | null): Promise<void> {
    let given: GivenTokens;
    try {
      given = await this.ask(tokens);
    } catch (error) {
      if (!isFinal(error)) {
        await this.grants.release(claim);
        throw passing(error);
      }
      await this.database.transaction(async (transaction) => {
        if (await this.grants.markGone(transaction, claim)) await this.tokens.remove(transaction, claim);
      });
      throw signInAgain();
    }
    await this.keep(claim, tokensOf(given, tokens?.refreshToken ?? ''), timesOf(given, this.clock.now()));
  }

  private ask(tokens: DriveTokens | null): Promise<GivenTokens> {
    const { client } = this.settings.drive;
    if (!tokens) throw signInAgain();
    if (!client) throw new DriveFailure('unreachable', 'The operator has taken away the settings with which people sign in to the drive.');
    const { refreshToken } = tokens;
    return this.endpoint.ask({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: client.id, client_secret: client.secret });
  }

  /** The drive may take the old token no more, so what it gave for it is not given up to a database that is away for a moment. */
  private async keep(claim: DriveRefreshClaim, tokens: DriveTokens, times: Pick<DriveGrant, 'expiresAt' | 'refreshAt'>): Promise<void> {
    const deadline = this.clock.monotonic() + SAVE_WAIT_MS;
    for (;;) {
      try {
        await this.database.transaction(async (transaction) => {
          // Somebody who has signed in again meanwhile has the newer grant.
          if (await this.grants.save(transaction, claim, { generation: newId(), ...times })) await this.tokens.put(transaction, claim, tokens);
        });
        return;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable) || this.clock.monotonic() >= deadline) throw error;
        await this.clock.sleep(SAVE_PAUSE_MS);
      }
    }
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof DriveFailure && error.reason === 'refused' && error.detail !== INVALID_CLIENT;
}

/** The operator's own credentials are wrong: with the right ones every grant works again. */
function passing(error: unknown): unknown {
  if (!(error instanceof DriveFailure) || error.reason !== 'refused') return error;
  return new DriveFailure('unreachable', 'The drive does not know this service as its client at the moment.', undefined, error.detail);
}

export function signInAgain(): DriveFailure {
  return new DriveFailure('refused', 'The access to the drive was withdrawn, or has ended. Somebody has to sign in again.');
}

export function tokensOf({ accessToken, refreshToken }: GivenTokens, before: string): DriveTokens {
  return { accessToken, refreshToken: refreshToken ?? before };
}

export function timesOf({ lifetimeMs }: GivenTokens, now: Date): Pick<DriveGrant, 'expiresAt' | 'refreshAt'> {
  const expiresAt = new Date(now.getTime() + lifetimeMs);
  return { expiresAt, refreshAt: new Date(expiresAt.getTime() - Math.min(TOKEN_MARGIN_MS, lifetimeMs / 2)) };
}
