import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { DriveGrantRepository } from '../../persistence/drive-grant.repository.js';
import type { SourceId } from '../../persistence/drive-source.repository.js';
import type { DriveAccess } from '../drive-http.js';
import { DriveGrantTokens } from './drive-grant-tokens.js';
import { RefreshDriveGrant, signInAgain } from './refresh-drive-grant.js';

interface UsedToken {
  readonly accessToken: string;
  readonly generation: string;
}

/** The access tokens of people's sign-ins. */
@Injectable()
export class DriveGrants {
  constructor(
    private readonly grants: DriveGrantRepository,
    private readonly tokens: DriveGrantTokens,
    private readonly refresh: RefreshDriveGrant,
    private readonly clock: Clock,
  ) {}

  accessFor(source: SourceId): DriveAccess {
    let used: UsedToken | undefined;
    let refused: string | undefined;
    return {
      token: async () => {
        // Looked up once a step: another process may refresh it meanwhile, and the drive goes on taking it until it expires.
        used ??= await this.current(source, refused);
        return used.accessToken;
      },
      forget: (token) => {
        if (used?.accessToken !== token) return;
        refused = used.generation;
        used = undefined;
      },
    };
  }

  /** @param refused the generation whose access token the drive does not take */
  private async current(source: SourceId, refused: string | undefined): Promise<UsedToken> {
    if (refused !== undefined) await this.grants.expire(source, refused, this.clock.now());
    const grant = await this.grants.find(source);
    if (grant?.status !== 'authorized') throw signInAgain();
    if (grant.refreshAt <= this.clock.now()) {
      try {
        await this.refresh.execute(source, grant.generation);
      } catch (error) {
        const isUsable = error instanceof DriveFailure && error.isPassing && grant.expiresAt > this.clock.now();
        if (!isUsable) throw error;
      }
    }
    const [now, tokens] = [await this.grants.find(source), await this.tokens.read(source)];
    if (now?.status !== 'authorized' || !tokens) throw signInAgain();
    return { accessToken: tokens.accessToken, generation: now.generation };
  }
}
