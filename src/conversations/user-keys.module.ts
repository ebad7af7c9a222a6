import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { UserColumns } from './application/user-columns.js';
import { UserKeys } from './application/user-keys.js';
import { RekeyUsers, rekeyUsers } from './jobs/rekey-users.job.js';

/** The keys of users, for all contexts that store users. */
@Module({
  imports: [AccessModule, JobsModule.define(rekeyUsers)],
  providers: [UserKeys, UserColumns, RekeyUsers],
  exports: [UserKeys, UserColumns],
})
export class UserKeysModule implements OnApplicationBootstrap {
  constructor(private readonly rekeyUsers: RekeyUsers) {}

  /** Before the process serves requests, since runs and routes look up only keyed users. */
  onApplicationBootstrap(): Promise<void> {
    return this.rekeyUsers.rekeyLookedUpColumns();
  }
}
