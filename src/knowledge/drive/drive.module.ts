import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { AgentsModule } from '../../agents/index.js';
import { JobsModule } from '../../platform/jobs/index.js';
import { IndexModule } from '../index/index.module.js';
import { ParsingModule } from '../parsing/parsing.module.js';
import { DiscardDriveSource } from './application/discard-drive-source.js';
import { DriveAccounts } from './application/drive-accounts.js';
import { DriveApi } from './application/drive-api.js';
import { DriveHttp } from './application/drive-http.js';
import { DriveLookUp } from './application/drive-look-up.js';
import { DriveSources } from './application/drive-sources.js';
import { SelectDriveFiles } from './application/select-drive-files.js';
import { ServiceAccounts } from './application/service-accounts.js';
import { DriveGrants, DriveSignIns } from './application/sign-in/drive-grants.js';
import { DriveSignIn } from './application/sign-in/drive-sign-in.js';
import { DriveFetching } from './application/sync/drive-fetching.js';
import { DriveListing } from './application/sync/drive-listing.js';
import { SyncDriveSource } from './application/sync/sync-drive-source.js';
import { TokenEndpoint } from './application/token-endpoint.js';
import { DriveCallbackController } from './http/drive-callback.controller.js';
import { DriveServiceAccountsController } from './http/drive-service-accounts.controller.js';
import { DriveSourcesController } from './http/drive-sources.controller.js';
import { removeDriveSource, syncDrive } from './jobs/drive.jobs.js';
import { removeDriveSignIns, RemoveDriveSignIns, RemoveDriveSource } from './jobs/remove-drive-data.job.js';
import { scheduleDriveSyncs, ScheduleDriveSyncs, SyncDrive } from './jobs/sync-drives.job.js';
import { DriveItemRepository } from './persistence/drive-item.repository.js';
import { DriveSourceRepository } from './persistence/drive-source.repository.js';
import { ServiceAccountRepository } from './persistence/service-account.repository.js';

const repositories = [ServiceAccountRepository, DriveSourceRepository, DriveItemRepository];
const accounts = [ServiceAccounts, DriveAccounts];
const requests = [DriveHttp, DriveApi, TokenEndpoint, DriveLookUp];
const signIn = [DriveGrants, DriveSignIns, DriveSignIn];
const selection = [SelectDriveFiles, DriveSources, DiscardDriveSource];
const sync = [DriveListing, DriveFetching, SyncDriveSource];
const processors = [SyncDrive, RemoveDriveSource, ScheduleDriveSyncs, RemoveDriveSignIns];

/** Files of a cloud drive as knowledge of agents, read through service accounts and people's sign-ins. */
@Module({
  imports: [
    AccessModule,
    AgentsModule,
    IndexModule,
    ParsingModule,
    JobsModule.define(syncDrive, removeDriveSource, scheduleDriveSyncs, removeDriveSignIns),
  ],
  controllers: [DriveServiceAccountsController, DriveSourcesController, DriveCallbackController],
  providers: [...repositories, ...accounts, ...requests, ...signIn, ...selection, ...sync, ...processors],
})
export class DriveModule {}
