import { DomainError } from '../../../platform/errors/index.js';
import { SignInFailed } from '../../../platform/oauth/index.js';

export class ServiceAccountNotFound extends DomainError {
  constructor() {
    super('not_found', 'There is no such drive service account in this organization.');
  }
}

export class ServiceAccountExists extends DomainError {
  constructor(clientEmail: string) {
    super(
      'conflict',
      `The organization already has the service account ${clientEmail}; delete it first to replace its key.`,
      { code: 'service_account_exists' },
    );
  }
}

export class ForbiddenServiceAccountManage extends DomainError {
  constructor() {
    super('forbidden', 'Only owners, admins and the person who added the service account may delete it.', {
      code: 'forbidden_service_account_manage',
    });
  }
}

export class ForbiddenDriveAccount extends DomainError {
  constructor() {
    super(
      'forbidden',
      'The person who owns the API key may not use this service account: members use those that they have added.',
      { code: 'forbidden_drive_sa' },
    );
  }
}

export class DriveAccountAmbiguous extends DomainError {
  constructor(count: number) {
    super('invalid', `${count} service accounts are available; name the one to use in integrationId.`, {
      error: 'drive_sa_ambiguous',
      bare: true,
    });
  }
}

export class DriveAccountNotConfigured extends DomainError {
  constructor() {
    super('invalid', 'No service account is available to the person who owns the API key; add one first.', {
      error: 'drive_sa_not_configured',
      bare: true,
    });
  }
}

export class DriveSourceNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no such drive settings.');
  }
}

/** The account cannot see these selected entries, or they are in the trash. */
export class DriveFilesNotFound extends DomainError {
  constructor(ids: readonly string[], who: string) {
    const named = ids
      .slice(0, 10)
      .map((id) => `'${id.slice(0, 200)}'`)
      .join(', ');
    const others = ids.length > 10 ? ` and ${ids.length - 10} more` : '';
    super(
      'invalid',
      `${who} cannot see ${named}${others} in the drive. Share them with that account, or leave them out of fileIds.`,
      { code: 'drive_file_not_found' },
    );
  }
}

export class DriveSignInNotConfigured extends DomainError {
  constructor() {
    super(
      'unprocessable',
      'People cannot sign in to the drive: the operator of this service has not set DRIVE_OAUTH_CLIENT_ID and DRIVE_OAUTH_CLIENT_SECRET.',
      { code: 'drive_oauth_not_configured' },
    );
  }
}

export function permissionNotGranted(): SignInFailed {
  return new SignInFailed(
    'invalid',
    'The permission to read the files of the drive was not granted. Start the sign-in again and grant it.',
  );
}

export function agentDeleted(): SignInFailed {
  return new SignInFailed('invalid', 'The agent was deleted while you signed in.');
}

export function filesNotVisible(count: number): SignInFailed {
  const which = count === 1 ? 'One of the selected files cannot' : `${count} of the selected files cannot`;
  return new SignInFailed(
    'invalid',
    `${which} be seen by the account that you signed in with. Start the sign-in again with another account, or select other files.`,
  );
}
