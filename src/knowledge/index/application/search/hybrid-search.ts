import { Injectable } from '@nestjs/common';
import { DEFAULT_KNOWLEDGE_SEARCH, KnowledgeTuning, type RunnableAgent } from '../../../../agents/index.js';
import { takesSemanticWeight } from '../../../../models/index.js';
import { type Candidate, Candidates } from './candidates.js';
import { KeywordSearch } from './keyword-search.js';
import { type KnowledgeQuery, type KnowledgeResult, SearchKnowledge } from './search-knowledge.js';
import { VectorSearch } from './vector-search.js';

/** Found by keywords, and as many by meaning: what only one of the two finds far behind can still be the best of both. */
const CANDIDATES_PER_RESULT = 4;
const MIN_CANDIDATES = 40;

/** Scores beyond are noise of the arithmetic, which must not decide about the order. */
const SCORE_DIGITS = 1e6;

/** Keywords and meaning, each from 0 to 1, weighed against one another; keywords alone where there is no meaning to be had. */
@Injectable()
export class HybridSearch extends SearchKnowledge {
  constructor(
    private readonly keywords: KeywordSearch,
    private readonly vectors: VectorSearch,
    private readonly candidates: Candidates,
    private readonly tuning: KnowledgeTuning,
  ) {
    super();
  }

  async execute(searching: RunnableAgent, asked: KnowledgeQuery, signal: AbortSignal): Promise<readonly KnowledgeResult[]> {
    signal.throwIfAborted();
    const query = asked.query.trim();
    if (query === '') return [];
    const agent = { ...searching, ...(await this.tuning.of(searching)) };
    const weight = weightOf(agent, asked);
    const maxResults = asked.maxResults ?? agent.knowledgeSearch.maxResults;
    const scope = { organizationId: agent.organizationId, agentId: agent.id, userContext: asked.userContext };
    const [words, comparison] = await Promise.all([
      this.keywords.prepare(scope, query),
      weight === 0 ? undefined : this.vectors.comparisonOf(query, signal),
    ]);
    const limit = comparison ? Math.max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * maxResults) : maxResults;
    const byKeywords = new Map((await words.top(limit)).map(({ chunkId, score }) => [chunkId, score]));
    const byMeaning = comparison ? await this.vectors.nearest(scope, comparison, limit) : [];
    const ids = [...new Set([...byKeywords.keys(), ...byMeaning])];
    signal.throwIfAborted();
    const found = ids.length === 0 ? [] : await this.candidates.read(scope, ids, comparison);
    const keywordScores = new Map([...byKeywords, ...(await words.scoresOf(byMeaning.filter((id) => !byKeywords.has(id))))]);
    const isAlone = comparison === undefined && !(weight === 0 && this.vectors.isAvailable);
    const threshold = thresholdOf(agent, asked, isAlone);
    return found
      .map((candidate) => scored(candidate, keywordScores.get(candidate.chunkId) ?? 0, weight))
      .filter(({ score }) => score > 0 && score >= threshold)
      // Equal ones stay in the order of their documents, which is the same on every database, as their ids are not.
      .sort((left, right) => right.score - left.score)
      .slice(0, maxResults);
  }
}

function weightOf({ options, knowledgeSearch }: RunnableAgent, asked: KnowledgeQuery): number {
  if (!takesSemanticWeight(options.type)) return DEFAULT_KNOWLEDGE_SEARCH.semanticWeight;
  return asked.semanticWeight ?? knowledgeSearch.semanticWeight;
}

/** By keywords alone, for want of meaning, the default threshold would drop what nobody meant it to. */
function thresholdOf({ knowledgeSearch, scoreThresholdSet }: RunnableAgent, asked: KnowledgeQuery, isAlone: boolean): number {
  if (asked.scoreThreshold !== undefined) return asked.scoreThreshold;
  return isAlone && !scoreThresholdSet ? 0 : knowledgeSearch.scoreThreshold;
}

function scored({ similarity, ...chunk }: Candidate, keywordScore: number, weight: number): KnowledgeResult {
  // Not a number where the vector has no direction: such a text has no meaning to compare, and loses nothing by it.
  const semanticScore = similarity === null || Number.isNaN(similarity) ? null : rounded(Math.max(0, Math.min(1, similarity)));
  const score = semanticScore === null ? keywordScore : weight * semanticScore + (1 - weight) * keywordScore;
  return { ...chunk, score: rounded(score), semanticScore, keywordScore: rounded(keywordScore) };
}

function rounded(score: number): number {
  return Math.round(score * SCORE_DIGITS) / SCORE_DIGITS;
}
