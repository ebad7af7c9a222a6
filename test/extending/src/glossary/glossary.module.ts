import { Module } from '@nestjs/common';
import { JobsModule } from '../../../../src/platform/jobs/index.js';
import { DefineTerm } from './application/define-term.js';
import { LookUpTerm } from './application/look-up-term.tool-source.js';
import { ReadTerms } from './application/read-terms.js';
import { TermsController } from './http/terms.controller.js';
import { SummarizeTerm, summarizeTerm } from './jobs/summarize-term.job.js';
import { TermRepository } from './persistence/term.repository.js';

@Module({
  imports: [JobsModule.define(summarizeTerm)],
  controllers: [TermsController],
  providers: [DefineTerm, LookUpTerm, ReadTerms, SummarizeTerm, TermRepository],
  exports: [LookUpTerm],
})
export class GlossaryModule {}
