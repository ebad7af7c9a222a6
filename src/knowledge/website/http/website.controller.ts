import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, pathResource, type ApiKeyPrincipal, Resource } from '../../../access/index.js';
import { AgentNotFound, type RunnableAgent } from '../../../agents/index.js';
import { ApiCauses, ApiErrors, ApiExample, UuidParam } from '../../../platform/http/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { readSiteConfigs } from '../domain/website-configs.js';
import { WEBSITE_UNSUPPORTED, WebsiteUnsupported } from '../domain/website.errors.js';
import { MAX_EXCLUSIONS_OF_AGENT } from '../limits.js';
import { ReadWebsite } from '../application/read-website.js';
import { SetWebsite } from '../application/set-website.js';
import type { Website } from '../persistence/website.repository.js';
import { SetWebsiteBody, WebsiteResponse } from './website.dto.js';

/** Agents of every type, so that the routes can answer differently for a missing agent and for a type without websites. */
const AGENT = 'assistant';

@ApiTags('Knowledge')
@Controller('v1/agents/:agentId/knowledge-bases/website')
export class WebsiteController {
  constructor(
    private readonly readWebsite: ReadWebsite,
    private readonly setWebsite: SetWebsite,
  ) {}

  @Get()
  @Access({ scope: 'none', resource: pathResource(AGENT, 'agentId') })
  @ApiOperation({
    operationId: 'getWebsiteKnowledge',
    summary: "Read an agent's websites and the state of their crawl",
    description:
      'Answers 404 where none was ever set. `chunks` and `bytes` count what earlier crawls found, until this one replaces it.',
  })
  @ApiOkResponse({ type: WebsiteResponse })
  @ApiErrors(404)
  async read(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Resource(AGENT) { type }: RunnableAgent,
  ): Promise<WebsiteResponse> {
    if (type === 'classic') throw new AgentNotFound();
    return toResponse(await this.readWebsite.execute(organizationId, agentId));
  }

  @Put()
  @Access({ scope: 'manageAgents', resource: pathResource(AGENT, 'agentId') })
  @ApiExample({
    body: { configs: [{ rootUrl: 'https://example.com/docs/', excludedUrls: ['https://example.com/docs/archive/'] }] },
  })
  @ApiOperation({
    operationId: 'setWebsiteKnowledge',
    summary: "Replace an agent's websites and crawl them",
    description:
      'A site that is listed already keeps its selected pages; only its exclusions are replaced. One that is no longer listed ' +
      'is removed with its pages. Every successful request starts a new crawl, which replaces one in progress. ' +
      `All sites together have at most ${MAX_EXCLUSIONS_OF_AGENT} exclusions. Of nested sites, a page belongs to the inner one.`,
  })
  @ApiOkResponse({ type: WebsiteResponse })
  @ApiErrors(404)
  @ApiCauses(400, WEBSITE_UNSUPPORTED)
  async set(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Resource(AGENT) { type }: RunnableAgent,
    @Body() { configs }: SetWebsiteBody,
  ): Promise<WebsiteResponse> {
    if (type === 'classic') throw new WebsiteUnsupported();
    return toResponse(await this.setWebsite.execute(organizationId, agentId, await readSiteConfigs(configs)));
  }
}

function toResponse({ roots, sync, pages, chunks, bytes }: Website & StoreUsage): WebsiteResponse {
  const { state, lastSuccessfulSyncAt, lastError, startedAt } = sync;
  return {
    configs: roots.map(({ rootUrl, excludedUrls, selectedUrls }) => ({ rootUrl, excludedUrls, selectedUrls })),
    sync: {
      state,
      lastSuccessfulSyncAt: lastSuccessfulSyncAt?.toISOString() ?? null,
      lastError,
      startedAt: startedAt?.toISOString() ?? null,
      pages,
    },
    chunks,
    bytes,
  };
}
