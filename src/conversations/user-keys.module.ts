import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { RekeyUsers } from './application/rekey-users.js';
import { UserColumns } from './application/user-columns.js';
import { UserKeys } from './application/user-keys.js';
import { RekeyUsersJob, rekeyUsers } from './jobs/rekey-users.job.js';
import { UserColumnsRepository } from './persistence/user-columns.repository.js';

/** The keys of users, for all contexts that store users. */
@Module({
  imports: [AccessModule, JobsModule.define(rekeyUsers)],
  providers: [UserKeys, UserColumns, UserColumnsRepository, RekeyUsers, RekeyUsersJob],
  exports: [UserKeys, UserColumns],
})
export class UserKeysModule implements OnApplicationBootstrap {
  constructor(private readonly rekeyUsers: RekeyUsers) {}

  /** Before the process serves requests, since runs and routes look up only keyed users. */
  onApplicationBootstrap(): Promise<void> {
    return this.rekeyUsers.rekeyLookedUpColumns();
  }
}
