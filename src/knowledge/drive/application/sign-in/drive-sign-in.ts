import { Injectable } from '@nestjs/common';
import { AgentNotFound, lockAgent } from '../../../../agents/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { Database } from '../../../../platform/database/index.js';
import { newId } from '../../../../platform/ids/index.js';
import {
  type AuthorizationResponse,
  randomText,
  type ReceivedTokens,
  sha256,
  SignInFailed,
  type TakenSignIn,
} from '../../../../platform/oauth/index.js';
import {
  agentDeleted,
  DriveFilesNotFound,
  DriveSignInNotConfigured,
  filesNotVisible,
  permissionNotGranted,
} from '../../domain/drive-errors.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import type { StoredDriveSignIn } from '../../persistence/drive.entities.js';
import { isFileId } from '../drive-responses.js';
import { DriveLookUp } from '../drive-look-up.js';
import { DriveSources } from '../drive-sources.js';
import { DRIVE_SCOPE, TokenEndpoint } from '../token-endpoint.js';
import { DriveGrants, DriveSignIns } from './drive-grants.js';

const CALLBACK_PATH = '/v1/oauth/drive/callback';

export interface DriveSignInRequest {
  readonly organizationId: string;
  readonly agentId: string;
  readonly fileIds: readonly string[];
  /** Where the browser goes once the sign-in is completed. */
  readonly redirectUrl: string;
  /** The origin of the caller's request, used without `PUBLIC_URL`. */
  readonly origin: string;
}

/** A person signs in to the drive, so that an agent knows files which that person can see. The last completed sign-in counts. */
@Injectable()
export class DriveSignIn {
  constructor(
    private readonly settings: Settings,
    private readonly endpoint: TokenEndpoint,
    private readonly lookUp: DriveLookUp,
    private readonly signIns: DriveSignIns,
    private readonly grants: DriveGrants,
    private readonly sources: DriveSources,
    private readonly database: Database,
  ) {}

  /**
   * The selected files are looked up when the sign-in is completed.
   * @returns the address at which the person signs in. @throws DriveSignInNotConfigured, DriveFilesNotFound, AgentNotFound
   */
  async start({ organizationId, agentId, fileIds, redirectUrl, origin }: DriveSignInRequest): Promise<string> {
    const { client, authorizeUrl } = this.settings.drive;
    if (!client) throw new DriveSignInNotConfigured();
    const impossible = fileIds.filter((id) => !isFileId(id));
    if (impossible.length > 0) throw new DriveFilesNotFound(impossible, 'The account of a person who signs in');
    const [state, codeVerifier] = [randomText(), randomText()];
    const redirectUri = `${this.settings.publicUrl ?? origin}${CALLBACK_PATH}`;
    const signIn = { organizationId, ownerId: agentId, fileIds: [...new Set(fileIds)], redirectUrl, redirectUri };
    await this.database.transaction(async (transaction) => {
      if ((await lockAgent(transaction, organizationId, agentId, 'exclusive')) === null) throw new AgentNotFound();
      await this.signIns.add(transaction, state, signIn, codeVerifier);
    });
    const url = new URL(authorizeUrl);
    const challenge = { code_challenge: sha256(codeVerifier), code_challenge_method: 'S256' };
    const parameters = {
      ...{ response_type: 'code', client_id: client.id, redirect_uri: redirectUri, scope: DRIVE_SCOPE, state },
      ...{ ...challenge, access_type: 'offline', prompt: 'consent' },
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Handles the browser's return. A code or an error uses the sign-in up, even if a later step fails. A visit with neither does
   * not: the visit with the code may still come.
   * @returns where the browser is redirected. @throws SignInFailed
   */
  async complete({ state, code, error }: Omit<AuthorizationResponse, 'iss'>): Promise<string> {
    if (code === undefined && error === undefined)
      throw (await this.signIns.isOpen(state)) ? SignInFailed.withoutCode('drive') : SignInFailed.unknown();
    const taken = await this.signIns.take(state);
    if (!taken) throw SignInFailed.unknown();
    if (error !== undefined || code === undefined) throw SignInFailed.denied('drive');
    try {
      await this.store(taken.signIn, await this.exchange(taken, code));
    } catch (failure) {
      throw toSignInFailure(failure);
    }
    return taken.signIn.redirectUrl;
  }

  private async exchange(
    { signIn: { redirectUri }, secret: codeVerifier }: TakenSignIn<StoredDriveSignIn>,
    code: string,
  ): Promise<ReceivedTokens> {
    const { client } = this.settings.drive;
    if (!client) throw SignInFailed.unknown();
    const received = await this.endpoint.request({
      ...{ grant_type: 'authorization_code', code, code_verifier: codeVerifier, redirect_uri: redirectUri },
      ...{ client_id: client.id, client_secret: client.secret },
    });
    if (received.scope !== undefined && !received.scope.split(' ').includes(DRIVE_SCOPE)) throw permissionNotGranted();
    return received;
  }

  private async store(
    signIn: StoredDriveSignIn,
    { accessToken, refreshToken, expiresAt, refreshAt }: ReceivedTokens,
  ): Promise<void> {
    const { organizationId, ownerId: agentId, fileIds } = signIn;
    const token = (): Promise<string> => Promise.resolve(accessToken);
    const { files, notVisible } = await this.lookUp.execute({ token, replace: token }, fileIds);
    if (notVisible.length > 0) throw filesNotVisible(notVisible.length);
    if (refreshToken === undefined) throw SignInFailed.refused('drive', 'no refresh_token');
    await this.database.transaction(async (transaction) => {
      const selection = { organizationId, agentId, kind: 'sign_in', accountId: null, files } as const;
      const ownerId = await this.sources.select(transaction, selection);
      const grant = {
        organizationId,
        ownerId,
        status: 'authorized',
        generation: newId(),
        expiresAt,
        refreshAt,
      } as const;
      await this.grants.put(transaction, grant, { tokens: { accessToken, refreshToken } });
    });
  }
}

function toSignInFailure(failure: unknown): unknown {
  if (failure instanceof AgentNotFound) return agentDeleted();
  if (!(failure instanceof DriveFailure)) return failure;
  return failure.isTransient
    ? SignInFailed.unreachable('drive', failure.message)
    : SignInFailed.refused('drive', failure.message);
}
