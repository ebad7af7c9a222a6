import { DocumentIndex } from './indexing/document-index.js';
import { DocumentWriter } from './indexing/document-writer.js';
import { StoredDocumentIndex } from './indexing/stored-document-index.js';
import type { KnowledgePart } from './knowledge-part.js';
import { KeywordSearch } from './search/keyword-search.js';
import { StoredKeywordSearch } from './search/keyword-stored-search.js';

export const indexPart: KnowledgePart = {
  imports: [],
  controllers: [],
  providers: [
    DocumentWriter,
    { provide: DocumentIndex, useClass: StoredDocumentIndex },
    { provide: KeywordSearch, useClass: StoredKeywordSearch },
  ],
};
