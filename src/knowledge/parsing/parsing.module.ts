import { ChildProcesses } from '../../platform/processes/index.js';
import { DocumentParser } from './application/document-parser.js';
import { Module } from '@nestjs/common';

/** Parses documents to blocks of text, in child processes that can be killed. */
@Module({
  providers: [ChildProcesses, DocumentParser],
  exports: [DocumentParser],
})
export class ParsingModule {}
