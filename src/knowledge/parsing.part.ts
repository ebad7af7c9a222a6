import { ChildProcesses } from '../platform/processes/index.js';
import { DocumentParser } from './parsing/document-parser.js';
import { ProcessDocumentParser } from './parsing/process-document-parser.js';
import type { KnowledgePart } from './knowledge-part.js';

export const parsingPart: KnowledgePart = {
  imports: [],
  controllers: [],
  providers: [ChildProcesses, { provide: DocumentParser, useClass: ProcessDocumentParser }],
};
