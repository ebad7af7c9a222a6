import { Module } from '@nestjs/common';
import { JobsModule } from '../platform/jobs/index.js';
import { ListEntries } from './application/list-entries.js';
import { ListPeriods } from './application/list-periods.js';
import { RecordUsage } from './application/record-usage.js';
import { RefuseExhausted } from './application/refuse-exhausted.js';
import { CreditsController } from './http/credits.controller.js';
import { CountCredits, countCredits } from './jobs/count-credits.job.js';
import { PurgeEntries, purgeEntries } from './jobs/purge-entries.job.js';
import { CreditEntryRepository } from './persistence/credit-entry.repository.js';
import { CreditPeriodRepository } from './persistence/credit-period.repository.js';

/** The usage of organizations, per run and per month. */
@Module({
  imports: [JobsModule.define(countCredits, purgeEntries)],
  controllers: [CreditsController],
  providers: [
    CreditEntryRepository,
    CreditPeriodRepository,
    RecordUsage,
    RefuseExhausted,
    ListPeriods,
    ListEntries,
    CountCredits,
    PurgeEntries,
  ],
  exports: [RecordUsage, RefuseExhausted],
})
export class CreditsModule {}
