import { JobsModule } from '../platform/jobs/index.js';
import { BeginDriveSync } from './application/begin-drive-sync.js';
import { ReadDriveSource } from './application/read-drive-source.js';
import { RemoveDriveSources } from './application/remove-drive-sources.js';
import { SelectDriveFiles } from './application/select-drive-files.js';
import { AddServiceAccount } from './application/add-service-account.js';
import { RemoveServiceAccount } from './application/remove-service-account.js';
import { ServiceAccountRights } from './application/service-account-rights.js';
import { DriveAccounts } from './drive/drive-accounts.js';
import { DriveApi } from './drive/drive-api.js';
import { DriveHttp } from './drive/drive-http.js';
import { DriveLookUp } from './drive/drive-look-up.js';
import { ServiceAccountKeys } from './drive/service-account-keys.js';
import { ServiceAccountTokens } from './drive/service-account-tokens.js';
import { CompleteDriveSignIn } from './drive/sign-in/complete-drive-sign-in.js';
import { DriveGrantTokens } from './drive/sign-in/drive-grant-tokens.js';
import { DriveGrants } from './drive/sign-in/drive-grants.js';
import { RefreshDriveGrant } from './drive/sign-in/refresh-drive-grant.js';
import { StartDriveSignIn } from './drive/sign-in/start-drive-sign-in.js';
import { DriveChanges } from './drive/sync/drive-changes.js';
import { DriveFetching } from './drive/sync/drive-fetching.js';
import { DriveFinds } from './drive/sync/drive-finds.js';
import { DriveListing } from './drive/sync/drive-listing.js';
import { HeldSource } from './drive/sync/held-source.js';
import { removeDriveSource, syncDrive } from './drive/sync/sync-drive.definition.js';
import { SyncDriveSource } from './drive/sync/sync-drive-source.js';
import { TokenEndpoint } from './drive/token-endpoint.js';
import { DriveCallbackController } from './http/drive-callback.controller.js';
import { DriveServiceAccountsController } from './http/drive-service-accounts.controller.js';
import { DriveSourcesController } from './http/drive-sources.controller.js';
import { RemoveDriveSignIns, removeDriveSignIns, scheduleDriveSyncs, ScheduleDriveSyncs } from './jobs/schedule-drive-syncs.job.js';
import { RemoveDriveSource, SyncDrive } from './jobs/sync-drive.job.js';
import type { KnowledgePart } from './knowledge-part.js';
import { DriveGrantRepository } from './persistence/drive-grant.repository.js';
import { DriveItemRepository } from './persistence/drive-item.repository.js';
import { DriveSignInRepository } from './persistence/drive-sign-in.repository.js';
import { DriveSourceRepository } from './persistence/drive-source.repository.js';
import { DriveSyncRepository } from './persistence/drive-sync.repository.js';
import { ServiceAccountRepository } from './persistence/service-account.repository.js';

const records = [ServiceAccountRepository, DriveSourceRepository, DriveSyncRepository, DriveItemRepository, DriveGrantRepository, DriveSignInRepository];
const accounts = [ServiceAccountKeys, ServiceAccountTokens, ServiceAccountRights, AddServiceAccount, RemoveServiceAccount, DriveAccounts];
const requests = [DriveHttp, DriveApi, TokenEndpoint, DriveLookUp];
const signIn = [DriveGrantTokens, DriveGrants, RefreshDriveGrant, StartDriveSignIn, CompleteDriveSignIn];
const selection = [SelectDriveFiles, BeginDriveSync, ReadDriveSource, RemoveDriveSources];
const sync = [HeldSource, DriveFinds, DriveListing, DriveFetching, DriveChanges, SyncDriveSource];
const processors = [SyncDrive, RemoveDriveSource, ScheduleDriveSyncs, RemoveDriveSignIns];

/** Files of a cloud drive, seen by service accounts and by people's sign-ins. */
export const drivePart: KnowledgePart = {
  imports: [JobsModule.define(syncDrive, removeDriveSource, scheduleDriveSyncs, removeDriveSignIns)],
  controllers: [DriveServiceAccountsController, DriveSourcesController, DriveCallbackController],
  providers: [...records, ...accounts, ...requests, ...signIn, ...selection, ...sync, ...processors],
};
