import { Injectable } from '@nestjs/common';
import { DEFAULT_KNOWLEDGE_SEARCH, KnowledgeTuning, type RunnableAgent } from '../../../../agents/index.js';
import type { UserContext } from '../../../../conversations/index.js';
import { providerOf } from '../../../../models/index.js';
import { Database } from '../../../../platform/database/index.js';
import { roundedScore } from '../../domain/ranking.js';
import { calibrated } from '../../domain/semantic-calibration.js';
import { type Candidate, type QueryVector, readCandidates } from '../../persistence/candidates.sql.js';
import { type KeywordQuery, KeywordSearch } from './keyword-search.js';
import type { SearchScope } from './search-scope.js';
import { VectorSearch } from './vector-search.js';

/** Candidates by keywords, and as many by meaning: the best result may be far behind in one of the two. */
const CANDIDATES_PER_RESULT = 4;
const MIN_CANDIDATES = 40;
/** If too many candidates have the same text, this many times as many are read, up to the maximum. */
const MORE_CANDIDATES = 4;
const MAX_CANDIDATES = 3_000;

/** If no result reaches the default threshold, the best ones above this share of it are returned. */
const LENIENCY = { results: 3, share: 0.5 };

export interface KnowledgeQuery {
  readonly query: string;
  /** This and the next two replace the agent's own settings. */
  readonly maxResults?: number;
  readonly scoreThreshold?: number;
  readonly semanticWeight?: number;
  /** Decides which documents with a scope are found; null finds none of them. */
  readonly userContext: UserContext | null;
}

export interface KnowledgeResult extends Omit<Candidate, 'similarity'> {
  readonly score: number;
  readonly semanticScore: number | null;
  readonly keywordScore: number;
}

interface Search {
  readonly scope: SearchScope;
  readonly keywords: KeywordQuery;
  readonly queryVector: QueryVector | undefined;
  readonly semanticWeight: number;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

/**
 * Searches an agent's knowledge, for the route and for the tool. Both keywords and meaning score each chunk from 0 to 1, and a weighted
 * sum ranks the results. If one of the two finds nothing, the other decides alone.
 */
@Injectable()
export class SearchKnowledge {
  constructor(
    private readonly keywords: KeywordSearch,
    private readonly vectors: VectorSearch,
    private readonly tuning: KnowledgeTuning,
    private readonly database: Database,
  ) {}

  /** Best first, each text once. If the embedding endpoint fails, it searches by keywords alone. */
  async execute(
    runnable: RunnableAgent,
    request: KnowledgeQuery,
    signal: AbortSignal,
  ): Promise<readonly KnowledgeResult[]> {
    signal.throwIfAborted();
    const query = request.query.trim();
    if (query === '') return [];
    const agent = { ...runnable, ...(await this.tuning.of(runnable)) };
    const semanticWeight = semanticWeightFor(agent, request);
    const scope = { organizationId: agent.organizationId, agentId: agent.id, userContext: request.userContext };
    const [keywords, queryVector] = await Promise.all([
      this.keywords.prepare(scope, query),
      semanticWeight === 0 ? undefined : this.vectors.embed(query, signal),
    ]);
    const maxResults = request.maxResults ?? agent.knowledgeSearch.maxResults;
    const ranked = await this.rank({ scope, keywords, queryVector, semanticWeight, maxResults, signal });
    // The default threshold is tuned for hybrid scores, so it does not apply if only keywords could be compared.
    const lacksMeaning = queryVector === undefined && !(semanticWeight === 0 && this.vectors.isAvailable);
    return selectBest(applyThreshold(ranked, agent, request, lacksMeaning), maxResults, semanticWeight);
  }

  /** Results with different texts, best first: all that there are, or at least `maxResults`. */
  private async rank(search: Search): Promise<readonly KnowledgeResult[]> {
    const { scope, keywords, queryVector, semanticWeight, maxResults, signal } = search;
    const weight = keywords.hasMatches ? semanticWeight : 1;
    let limit = queryVector ? Math.max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * maxResults) : maxResults;
    for (; ; limit *= MORE_CANDIDATES) {
      const byKeywords = new Map((await keywords.top(limit)).map(({ chunkId, score }) => [chunkId, score]));
      const byMeaning = queryVector ? await this.vectors.nearest(scope, queryVector, limit) : [];
      const ids = [...new Set([...byKeywords.keys(), ...byMeaning])];
      signal.throwIfAborted();
      const candidates = await readCandidates(this.database, scope, ids, queryVector);
      const others = await keywords.scoresOf(byMeaning.filter((id) => !byKeywords.has(id)));
      const results = candidates
        .map((candidate) => {
          const keywordScore = byKeywords.get(candidate.chunkId) ?? others.get(candidate.chunkId) ?? 0;
          return toResult(candidate, keywordScore, queryVector, weight);
        })
        .filter(({ score }) => score > 0)
        // Equal scores keep the order of their documents. Unlike their ids, it is the same on every database.
        .sort((left, right) => right.score - left.score);
      const distinct = removeRepeatedTexts(results);
      const areAll = byKeywords.size < limit && byMeaning.length < limit;
      if (distinct.length >= maxResults || distinct.length === ids.length || areAll || limit >= MAX_CANDIDATES)
        return distinct;
    }
  }
}

function semanticWeightFor({ options, knowledgeSearch }: RunnableAgent, request: KnowledgeQuery): number {
  if (providerOf(options.type).fixedSemanticWeight === true) return DEFAULT_KNOWLEDGE_SEARCH.semanticWeight;
  return request.semanticWeight ?? knowledgeSearch.semanticWeight;
}

function toResult(
  { similarity, ...chunk }: Candidate,
  keywordScore: number,
  queryVector: QueryVector | undefined,
  weight: number,
): KnowledgeResult {
  // The similarity is NaN if the vector has no direction. Such a chunk scores by its keywords alone.
  const isCompared = queryVector !== undefined && similarity !== null && !Number.isNaN(similarity);
  const semanticScore = isCompared ? roundedScore(calibrated(similarity, queryVector.unrelated)) : null;
  const score = semanticScore === null ? keywordScore : weight * semanticScore + (1 - weight) * keywordScore;
  return { ...chunk, score: roundedScore(score), semanticScore, keywordScore };
}

/** Keeps the best result of each text. */
function removeRepeatedTexts(results: readonly KnowledgeResult[]): KnowledgeResult[] {
  const texts = new Set<string>();
  return results.filter(({ text }) => {
    const normalized = text.normalize('NFKC').replace(/\s+/gu, ' ').trim();
    const isNew = !texts.has(normalized);
    texts.add(normalized);
    return isNew;
  });
}

/**
 * Selects the results with the best scores, but as large a share as keywords weigh are the best by keywords. Otherwise a model that does
 * not know the subject, whose scores are close together, would displace passages that have all words of the query.
 */
function selectBest(results: readonly KnowledgeResult[], count: number, weight: number): readonly KnowledgeResult[] {
  const byKeywords = results
    .filter(({ keywordScore }) => keywordScore > 0)
    .sort((left, right) => right.keywordScore - left.keywordScore);
  const preferred = new Set([...byKeywords.slice(0, Math.floor((1 - weight) * count)), ...results]);
  const selected = new Set([...preferred].slice(0, count));
  return results.filter((result) => selected.has(result));
}

/** Removes results below the threshold of the request, the agent or the default. The default never removes all of them. */
function applyThreshold(
  results: readonly KnowledgeResult[],
  { knowledgeSearch, scoreThresholdSet }: RunnableAgent,
  request: KnowledgeQuery,
  lacksMeaning: boolean,
): readonly KnowledgeResult[] {
  const threshold = request.scoreThreshold ?? knowledgeSearch.scoreThreshold;
  const above = (least: number): readonly KnowledgeResult[] => results.filter(({ score }) => score >= least);
  if (request.scoreThreshold !== undefined || scoreThresholdSet) return above(threshold);
  if (lacksMeaning) return results;
  const reached = above(threshold);
  return reached.length > 0 ? reached : above(LENIENCY.share * threshold).slice(0, LENIENCY.results);
}
