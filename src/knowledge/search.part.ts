import type { KnowledgePart } from './knowledge-part.js';
import { Candidates } from './search/candidates.js';
import { HybridSearch } from './search/hybrid-search.js';
import { SearchKnowledge } from './search/search-knowledge.js';
import { VectorSearch } from './search/vector-search.js';

export const searchPart: KnowledgePart = {
  imports: [],
  controllers: [],
  providers: [
    Candidates,
    VectorSearch,
    { provide: SearchKnowledge, useClass: HybridSearch },
  ],
};
