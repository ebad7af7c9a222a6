import { Injectable } from '@nestjs/common';
import { DEFAULT_KNOWLEDGE_SEARCH, KnowledgeTuning, type RunnableAgent } from '../../../../agents/index.js';
import type { UserContext } from '../../../../conversations/index.js';
import { providerOf } from '../../../../models/index.js';
import { roundedScore } from '../../domain/ranking.js';
import { calibrated } from '../../domain/semantic-calibration.js';
import { type Candidate, Candidates, type Comparison } from './candidates.js';
import { type KeywordQuery, KeywordSearch } from './keyword-search.js';
import type { SearchScope } from './search-scope.js';
import { VectorSearch } from './vector-search.js';

/** Found by keywords, and as many by meaning: what only one of the two finds far behind can still be the best of both. */
const CANDIDATES_PER_RESULT = 4;
const MIN_CANDIDATES = 40;
/** Where so many hold the same text that too few results are left, more are found, up to so many. */
const MORE_CANDIDATES = 4;
const MAX_CANDIDATES = 3_000;

/** A threshold that no user has set leaves the best of those that come to this share of it, rather than nothing. */
const LENIENCY = { results: 3, share: 0.5 };

export interface KnowledgeQuery {
  readonly query: string;
  /** Each in place of the agent's own setting. */
  readonly maxResults?: number;
  readonly scoreThreshold?: number;
  readonly semanticWeight?: number;
  /** Decides which scoped documents are seen; null sees none of them. */
  readonly userContext: UserContext | null;
}

export interface KnowledgeResult extends Omit<Candidate, 'similarity'> {
  readonly score: number;
  readonly semanticScore: number | null;
  readonly keywordScore: number;
}

/** What is asked, with the settings that hold for it. */
interface Search {
  readonly scope: SearchScope;
  readonly words: KeywordQuery;
  readonly comparison: Comparison | undefined;
  readonly weight: number;
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

/**
 * What an agent finds in its knowledge, which the route and the tool ask: by keywords and meaning, each from 0 to 1, weighed against one
 * another; by one of them alone where the other says nothing.
 */
@Injectable()
export class SearchKnowledge {
  constructor(
    private readonly keywords: KeywordSearch,
    private readonly vectors: VectorSearch,
    private readonly candidates: Candidates,
    private readonly tuning: KnowledgeTuning,
  ) {}

  /** Best first, the same text once. Never fails for want of embeddings: it searches by keywords alone then. */
  async execute(
    searching: RunnableAgent,
    asked: KnowledgeQuery,
    signal: AbortSignal,
  ): Promise<readonly KnowledgeResult[]> {
    signal.throwIfAborted();
    const query = asked.query.trim();
    if (query === '') return [];
    const agent = { ...searching, ...(await this.tuning.of(searching)) };
    const weight = weightOf(agent, asked);
    const scope = { organizationId: agent.organizationId, agentId: agent.id, userContext: asked.userContext };
    const [words, comparison] = await Promise.all([
      this.keywords.prepare(scope, query),
      weight === 0 ? undefined : this.vectors.comparisonOf(query, signal),
    ]);
    const maxResults = asked.maxResults ?? agent.knowledgeSearch.maxResults;
    const found = await this.ranked({ scope, words, comparison, weight, maxResults, signal });
    // For want of meaning, the default threshold would drop what was never meant to be dropped.
    const isAlone = comparison === undefined && !(weight === 0 && this.vectors.isAvailable);
    return chosen(reaching(found, agent, asked, isAlone), maxResults, weight);
  }

  /** Texts that are unlike one another, the best first: as many as there are, or at least `maxResults`. */
  private async ranked({
    scope,
    words,
    comparison,
    weight,
    maxResults,
    signal,
  }: Search): Promise<readonly KnowledgeResult[]> {
    for (
      let limit = comparison ? Math.max(MIN_CANDIDATES, CANDIDATES_PER_RESULT * maxResults) : maxResults;
      ;
      limit *= MORE_CANDIDATES
    ) {
      const byKeywords = new Map((await words.top(limit)).map(({ chunkId, score }) => [chunkId, score]));
      const byMeaning = comparison ? await this.vectors.nearest(scope, comparison, limit) : [];
      const ids = [...new Set([...byKeywords.keys(), ...byMeaning])];
      signal.throwIfAborted();
      const found = ids.length === 0 ? [] : await this.candidates.read(scope, ids, comparison);
      const keywordScores = new Map([
        ...byKeywords,
        ...(await words.scoresOf(byMeaning.filter((id) => !byKeywords.has(id)))),
      ]);
      const results = found
        .map((candidate) =>
          scored(candidate, keywordScores.get(candidate.chunkId) ?? 0, comparison, words.says ? weight : 1),
        )
        .filter(({ score }) => score > 0)
        // Equal ones stay in the order of their documents, which is the same on every database, as their ids are not.
        .sort((left, right) => right.score - left.score);
      const unlike = withoutRepetitions(results);
      const areAll = byKeywords.size < limit && byMeaning.length < limit;
      if (unlike.length >= maxResults || unlike.length === ids.length || areAll || limit >= MAX_CANDIDATES)
        return unlike;
    }
  }
}

function weightOf({ options, knowledgeSearch }: RunnableAgent, asked: KnowledgeQuery): number {
  if (providerOf(options.type).fixedSemanticWeight === true) return DEFAULT_KNOWLEDGE_SEARCH.semanticWeight;
  return asked.semanticWeight ?? knowledgeSearch.semanticWeight;
}

function scored(
  { similarity, ...chunk }: Candidate,
  keywordScore: number,
  comparison: Comparison | undefined,
  weight: number,
): KnowledgeResult {
  // Not a number where the vector has no direction: such a text has no meaning to compare, and loses nothing by it.
  const isCompared = comparison !== undefined && similarity !== null && !Number.isNaN(similarity);
  const semanticScore = isCompared ? roundedScore(calibrated(similarity, comparison.unrelated)) : null;
  const score = semanticScore === null ? keywordScore : weight * semanticScore + (1 - weight) * keywordScore;
  return { ...chunk, score: roundedScore(score), semanticScore, keywordScore };
}

/** The best of each text, whichever documents have it. */
function withoutRepetitions(results: readonly KnowledgeResult[]): KnowledgeResult[] {
  const texts = new Set<string>();
  return results.filter(({ text }) => {
    const normalized = text.normalize('NFKC').replace(/\s+/gu, ' ').trim();
    const isNew = !texts.has(normalized);
    texts.add(normalized);
    return isNew;
  });
}

/**
 * The best by their score; as large a part of them as keywords weigh are the best by keywords. Otherwise a model that knows little of the
 * subject, whose scores lie close together, would take the place of passages that have all words of the query.
 */
function chosen(results: readonly KnowledgeResult[], count: number, weight: number): readonly KnowledgeResult[] {
  const byKeywords = results
    .filter(({ keywordScore }) => keywordScore > 0)
    .sort((left, right) => right.keywordScore - left.keywordScore);
  const inOrderOfChoice = new Set([...byKeywords.slice(0, Math.floor((1 - weight) * count)), ...results]);
  const kept = new Set([...inOrderOfChoice].slice(0, count));
  return results.filter((result) => kept.has(result));
}

/** Those that reach the threshold that holds for the query. */
function reaching(
  results: readonly KnowledgeResult[],
  { knowledgeSearch, scoreThresholdSet }: RunnableAgent,
  asked: KnowledgeQuery,
  isAlone: boolean,
): readonly KnowledgeResult[] {
  const threshold = asked.scoreThreshold ?? knowledgeSearch.scoreThreshold;
  const above = (least: number): readonly KnowledgeResult[] => results.filter(({ score }) => score >= least);
  if (asked.scoreThreshold !== undefined || scoreThresholdSet) return above(threshold);
  if (isAlone) return results;
  const reached = above(threshold);
  return reached.length > 0 ? reached : above(LENIENCY.share * threshold).slice(0, LENIENCY.results);
}
