import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, pathResource, Resource } from '../../../access/index.js';
import type { RunnableAgent } from '../../../agents/index.js';
import { ApiErrors, ApiExample, disconnectSignal } from '../../../platform/http/index.js';
import { type KnowledgeResult, SearchKnowledge } from '../application/search/search-knowledge.js';
import { type KnowledgeResultResponse, KnowledgeResultListResponse, SearchKnowledgeBody } from './search.dto.js';

@ApiTags('Knowledge')
@Controller('v1/agents/:agentId/knowledge-bases/search')
export class SearchController {
  constructor(private readonly searchKnowledge: SearchKnowledge) {}

  @Post()
  @HttpCode(200)
  @Access({ scope: 'none', resource: pathResource('agent', 'agentId') })
  @ApiExample({ body: { query: 'How long is the warranty?', maxResults: 3 } })
  @ApiOperation({
    operationId: 'searchKnowledge',
    summary: "Search an agent's knowledge",
    description:
      'Returns what the agent finds in a run without userContext: files with a scope are left out. The feature knowledge_search is not needed. ' +
      'A passage without a vector scores by its keywords alone, with semanticScore null. If no passage has a word of the query, all passages score ' +
      'by their meaning alone. Each text is returned once. Equal scores are in the order of the sources.',
  })
  @ApiOkResponse({ type: KnowledgeResultListResponse })
  @ApiErrors(404)
  async search(
    @Resource('agent') agent: RunnableAgent,
    @Body() { query, maxResults, scoreThreshold, semanticWeight }: SearchKnowledgeBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<KnowledgeResultListResponse> {
    // A setting that was not sent must be absent, so that the agent's own applies.
    const settings = {
      ...(maxResults !== undefined && { maxResults }),
      ...(scoreThreshold !== undefined && { scoreThreshold }),
      ...(semanticWeight !== undefined && { semanticWeight }),
    };
    const results = await this.searchKnowledge.execute(
      agent,
      { query, ...settings, userContext: null },
      disconnectSignal(reply),
    );
    return { results: results.map(toResponse) };
  }
}

function toResponse({ documentId: sourceId, ...result }: KnowledgeResult): KnowledgeResultResponse {
  const { kind, title, url, heading, headings, page, text, score, semanticScore, keywordScore } = result;
  return { sourceId, kind, title, url, heading, headings, page, text, score, semanticScore, keywordScore };
}
