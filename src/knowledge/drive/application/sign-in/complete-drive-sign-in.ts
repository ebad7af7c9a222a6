import { Injectable } from '@nestjs/common';
import { AgentNotFound } from '../../../../agents/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { Database } from '../../../../platform/database/index.js';
import { newId } from '../../../../platform/ids/index.js';
import { type AuthorizationResponse, type ReceivedTokens, SignInFailed, type TakenSignIn } from '../../../../platform/oauth/index.js';
import { BeginDriveSync } from '../begin-drive-sync.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import type { SelectedFile } from '../../domain/drive-file.js';
import { agentRemoved, filesNotSeen, withoutPermission } from '../../domain/drive-errors.js';
import type { StoredDriveSignIn } from '../../persistence/drive.entities.js';
import { DriveLookUp } from '../drive-look-up.js';
import { DRIVE_SCOPE, TokenEndpoint } from '../token-endpoint.js';
import { DriveGrants } from './drive-grants.js';
import { DriveSignIns } from './drive-sign-ins.js';

type TakenDriveSignIn = TakenSignIn<StoredDriveSignIn>;

/** Completes a sign-in with what the browser brings back. Of several that are completed the last one counts. */
@Injectable()
export class CompleteDriveSignIn {
  constructor(
    private readonly settings: Settings,
    private readonly endpoint: TokenEndpoint,
    private readonly lookUp: DriveLookUp,
    private readonly signIns: DriveSignIns,
    private readonly grants: DriveGrants,
    private readonly begin: BeginDriveSync,
    private readonly database: Database,
  ) {}

  /**
   * Code and error use the sign-in up, whatever becomes of them. A visit with neither decides nothing: the one that brings
   * the code may still come.
   * @returns where the browser goes on. @throws SignInFailed
   */
  async execute({ state, code, error }: Omit<AuthorizationResponse, 'iss'>): Promise<string> {
    if (code === undefined && error === undefined) throw (await this.signIns.isOpen(state)) ? SignInFailed.withoutCode('drive') : SignInFailed.unknown();
    const taken = await this.signIns.take(state);
    if (!taken) throw SignInFailed.unknown();
    if (error !== undefined || code === undefined) throw SignInFailed.denied('drive');
    try {
      const received = await this.exchange(taken, code);
      await this.store(taken, received, await this.filesFor(taken, received));
    } catch (failure) {
      throw pageOf(failure);
    }
    return taken.signIn.redirectUrl;
  }

  private async exchange({ signIn: { redirectUri }, secret: codeVerifier }: TakenDriveSignIn, code: string): Promise<ReceivedTokens> {
    const { client } = this.settings.drive;
    if (!client) throw SignInFailed.unknown();
    const received = await this.endpoint.ask({
      ...{ grant_type: 'authorization_code', code, code_verifier: codeVerifier, redirect_uri: redirectUri },
      ...{ client_id: client.id, client_secret: client.secret },
    });
    if (received.scope !== undefined && !received.scope.split(' ').includes(DRIVE_SCOPE)) throw withoutPermission();
    return received;
  }

  private async filesFor({ signIn: { fileIds } }: TakenDriveSignIn, { accessToken }: ReceivedTokens): Promise<readonly SelectedFile[]> {
    const access = { token: () => Promise.resolve(accessToken), forget: () => undefined };
    const { files, unseen } = await this.lookUp.execute(access, fileIds);
    if (unseen.length > 0) throw filesNotSeen(unseen.length);
    return files;
  }

  private async store({ signIn }: TakenDriveSignIn, { accessToken, refreshToken, expiresAt, refreshAt }: ReceivedTokens, files: readonly SelectedFile[]): Promise<void> {
    const { organizationId, ownerId: agentId } = signIn;
    if (refreshToken === undefined) throw SignInFailed.refused('drive', 'no refresh_token');
    await this.database.transaction(async (transaction) => {
      const ownerId = await this.begin.execute(transaction, { organizationId, agentId, kind: 'sign_in', accountId: null, files });
      const grant = { organizationId, ownerId, status: 'authorized' as const, generation: newId(), expiresAt, refreshAt };
      await this.grants.put(transaction, grant, { tokens: { accessToken, refreshToken } });
    });
  }
}

function pageOf(failure: unknown): unknown {
  if (failure instanceof AgentNotFound) return agentRemoved();
  if (!(failure instanceof DriveFailure)) return failure;
  return failure.isPassing ? SignInFailed.unreachable('drive', failure.message) : SignInFailed.refused('drive', failure.message);
}
