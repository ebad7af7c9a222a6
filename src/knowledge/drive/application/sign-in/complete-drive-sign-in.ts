import { Injectable } from '@nestjs/common';
import { AgentNotFound } from '../../../../agents/index.js';
import { Clock } from '../../../../platform/clock/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { Database } from '../../../../platform/database/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { BeginDriveSync } from '../begin-drive-sync.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import type { SelectedFile } from '../../domain/drive-file.js';
import { DriveSignInFailed } from '../../domain/drive-errors.js';
import { DriveGrantRepository } from '../../persistence/drive-grant.repository.js';
import { DriveSignInRepository, type TakenDriveSignIn } from '../../persistence/drive-sign-in.repository.js';
import { DriveLookUp } from '../drive-look-up.js';
import { DRIVE_SCOPE, type GivenTokens, TokenEndpoint } from '../token-endpoint.js';
import { DriveGrantTokens } from './drive-grant-tokens.js';
import { timesOf } from './refresh-drive-grant.js';
import { stateDigestOf } from './start-drive-sign-in.js';

/** What the drive sent the browser back with. */
export interface DriveAuthorizationResponse {
  readonly state: string | undefined;
  readonly code: string | undefined;
  readonly error: string | undefined;
}

/** Completes a sign-in with what the browser brings back. Of several that are completed the last one counts. */
@Injectable()
export class CompleteDriveSignIn {
  constructor(
    private readonly settings: Settings,
    private readonly endpoint: TokenEndpoint,
    private readonly lookUp: DriveLookUp,
    private readonly signIns: DriveSignInRepository,
    private readonly grants: DriveGrantRepository,
    private readonly tokens: DriveGrantTokens,
    private readonly begin: BeginDriveSync,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Code and error use the sign-in up, whatever becomes of them. A visit with neither decides nothing: the one that brings
   * the code may still come.
   * @returns where the browser goes on. @throws DriveSignInFailed
   */
  async execute({ state, code, error }: DriveAuthorizationResponse): Promise<string> {
    if (code === undefined && error === undefined) throw (await this.isOpen(state)) ? DriveSignInFailed.withoutCode() : DriveSignInFailed.unknown();
    const signIn = await this.take(state);
    if (error !== undefined || code === undefined) throw DriveSignInFailed.denied();
    try {
      const given = await this.exchange(signIn, code);
      await this.store(signIn, given, await this.filesFor(signIn, given));
    } catch (failure) {
      throw pageOf(failure);
    }
    return signIn.redirectUrl;
  }

  private async isOpen(state: string | undefined): Promise<boolean> {
    return state !== undefined && this.signIns.isOpen(stateDigestOf(state), this.clock.now());
  }

  private async take(state: string | undefined): Promise<TakenDriveSignIn> {
    if (state === undefined) throw DriveSignInFailed.unknown();
    const taken = await this.database.transaction((transaction) => this.signIns.take(transaction, stateDigestOf(state)));
    if (!taken || taken.expiresAt <= this.clock.now()) throw DriveSignInFailed.unknown();
    return taken;
  }

  private async exchange({ codeVerifier, redirectUri }: TakenDriveSignIn, code: string): Promise<GivenTokens> {
    const { client } = this.settings.drive;
    if (!client) throw DriveSignInFailed.unknown();
    const given = await this.endpoint.ask({
      ...{ grant_type: 'authorization_code', code, code_verifier: codeVerifier, redirect_uri: redirectUri },
      ...{ client_id: client.id, client_secret: client.secret },
    });
    if (given.scope !== undefined && !given.scope.split(' ').includes(DRIVE_SCOPE)) throw DriveSignInFailed.withoutPermission();
    return given;
  }

  private async filesFor({ fileIds }: TakenDriveSignIn, { accessToken }: GivenTokens): Promise<readonly SelectedFile[]> {
    const access = { token: () => Promise.resolve(accessToken), forget: () => undefined };
    const { files, unseen } = await this.lookUp.execute(access, fileIds);
    if (unseen.length > 0) throw DriveSignInFailed.notSeen(unseen.length);
    return files;
  }

  private async store(signIn: TakenDriveSignIn, given: GivenTokens, files: readonly SelectedFile[]): Promise<void> {
    const { organizationId, agentId } = signIn;
    const { accessToken, refreshToken } = given;
    if (refreshToken === undefined) throw DriveSignInFailed.refused('no refresh_token');
    await this.database.transaction(async (transaction) => {
      const id = await this.begin.execute(transaction, { organizationId, agentId, kind: 'sign_in', accountId: null, files });
      await this.grants.put(transaction, { organizationId, id }, { generation: newId(), ...timesOf(given, this.clock.now()) });
      await this.tokens.put(transaction, { organizationId, id }, { accessToken, refreshToken });
    });
  }
}

function pageOf(failure: unknown): unknown {
  if (failure instanceof AgentNotFound) return DriveSignInFailed.gone();
  if (!(failure instanceof DriveFailure)) return failure;
  return failure.isPassing ? DriveSignInFailed.unreachable(failure.message) : DriveSignInFailed.refused(failure.message);
}
