import { Injectable } from '@nestjs/common';
import { AgentNotFound } from '../../../../agents/index.js';
import { Settings } from '../../../../platform/config/index.js';
import { Database } from '../../../../platform/database/index.js';
import { randomText, sha256 } from '../../../../platform/oauth/index.js';
import { DriveFilesNotFound, DriveSignInNotConfigured } from '../../domain/drive-errors.js';
import { DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import { isFileId } from '../drive-answers.js';
import { DRIVE_SCOPE } from '../token-endpoint.js';
import { DriveSignIns } from './drive-sign-ins.js';

const CALLBACK_PATH = '/v1/oauth/drive/callback';

export interface DriveSignInRequest {
  readonly organizationId: string;
  readonly agentId: string;
  readonly fileIds: readonly string[];
  /** Where the browser goes once the sign-in is completed. */
  readonly redirectUrl: string;
  /** Where the caller reached the service, for where `PUBLIC_URL` is not set. */
  readonly origin: string;
}

/** Begins a sign-in of a person to the drive. The selected files are looked up when it is completed. */
@Injectable()
export class StartDriveSignIn {
  constructor(
    private readonly settings: Settings,
    private readonly signIns: DriveSignIns,
    private readonly sources: DriveSourceRepository,
    private readonly database: Database,
  ) {}

  /** @returns the address at which the person signs in. @throws DriveSignInNotConfigured, DriveFilesNotFound, AgentNotFound */
  async execute({ organizationId, agentId, fileIds, redirectUrl, origin }: DriveSignInRequest): Promise<string> {
    const { client, authorizeUrl } = this.settings.drive;
    if (!client) throw new DriveSignInNotConfigured();
    const impossible = fileIds.filter((id) => !isFileId(id));
    if (impossible.length > 0) throw new DriveFilesNotFound(impossible, 'The account of a person who signs in');
    const [state, codeVerifier] = [randomText(), randomText()];
    const redirectUri = `${this.settings.publicUrl ?? origin}${CALLBACK_PATH}`;
    const signIn = { organizationId, ownerId: agentId, fileIds: [...new Set(fileIds)], redirectUrl, redirectUri };
    await this.database.transaction(async (transaction) => {
      if (!(await this.sources.lockAgent(transaction, organizationId, agentId))) throw new AgentNotFound();
      await this.signIns.add(transaction, state, signIn, codeVerifier);
    });
    const url = new URL(authorizeUrl);
    const parameters = {
      ...{ response_type: 'code', client_id: client.id, redirect_uri: redirectUri, scope: DRIVE_SCOPE, state },
      ...{ code_challenge: sha256(codeVerifier), code_challenge_method: 'S256', access_type: 'offline', prompt: 'consent' },
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return url.href;
  }
}
