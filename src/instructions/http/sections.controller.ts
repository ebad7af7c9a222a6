import { Body, Controller, Delete, Get, HttpCode, Patch, Post, Put, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, Caller, pathResource, type ApiKeyPrincipal, Resource } from '../../access/index.js';
import { AgentWriteTarget, ApiVersionHeader, type CurrentAgent, etagOf, type WriteTarget } from '../../agents/index.js';
import { Database } from '../../platform/database/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { ApiErrors, ApiExample, EXAMPLE_IDS, LargeBody, UuidParam } from '../../platform/http/index.js';
import { ChangeSections } from '../application/change-sections.js';
import { SECTIONS_AGENT } from '../application/sections-agent-lookup.js';
import {
  AgentWithSectionsNotFound,
  ExistingDuplicateSectionNames,
  SectionNameTaken,
  SectionNotFound,
} from '../domain/instructions.errors.js';
import type { Section } from '../domain/section.js';
import { SectionRepository } from '../persistence/section.repository.js';
import {
  ChangeSectionBody,
  ReplaceSectionsBody,
  SectionBody,
  SectionListResponse,
  SectionResponse,
  sectionView,
} from './sections.dto.js';

const AGENT = pathResource(SECTIONS_AGENT, 'agentId');

@ApiTags('Sections')
@Controller('v1/agents/:agentId/sections')
export class SectionsController {
  constructor(
    private readonly database: Database,
    private readonly sections: SectionRepository,
    private readonly changeSections: ChangeSections,
  ) {}

  @Get()
  @Access({ scope: 'none', resource: AGENT })
  @ApiOperation({
    operationId: 'listSections',
    summary: "List an agent's sections in prompt order",
    description: 'Answers 404 agent_not_found for an agent that does not exist or whose type has no sections.',
  })
  @ApiVersionHeader()
  @ApiOkResponse({ type: SectionListResponse })
  @ApiErrors(new AgentWithSectionsNotFound())
  async list(
    @Caller() caller: ApiKeyPrincipal,
    @Resource(SECTIONS_AGENT) { version }: CurrentAgent,
    @UuidParam('agentId') agentId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SectionListResponse> {
    const { organizationId } = caller;
    return listed(reply, await this.sections.list(this.database, { organizationId, agentId }), version);
  }

  @Put()
  @LargeBody()
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({
    body: {
      sections: [
        { name: 'Tone', content: 'Be friendly and brief.' },
        { name: 'Opening hours', content: 'Monday to Friday, 9 to 18.' },
        { name: 'Returns', content: 'A bicycle can be returned within 30 days.' },
      ],
    },
  })
  @ApiOperation({
    operationId: 'replaceSections',
    summary: "Replace an agent's sections by a complete list",
    description:
      'Sections are matched by name: one with a known name is updated and keeps its id, a new name creates a section, and a section ' +
      'that is not listed is deleted. The order of the list is that of the prompt. A list that changes nothing writes ' +
      'nothing. The answer is 400 duplicate_section_names when the list repeats a name, and ' +
      '409 existing_duplicate_section_names when stored sections share one; both list the names in `names`.',
  })
  @ApiVersionHeader()
  @ApiOkResponse({ type: SectionListResponse })
  @ApiErrors(new AgentWithSectionsNotFound(), new ExistingDuplicateSectionNames(['Tone']))
  async replace(
    @AgentWriteTarget() target: WriteTarget,
    @Resource(SECTIONS_AGENT) agent: CurrentAgent,
    @Body() { sections }: ReplaceSectionsBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SectionListResponse> {
    const { result, version } = await this.changeSections.replace(target, agent.version, sections);
    return listed(reply, result, version);
  }

  @Post()
  @LargeBody()
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ body: { name: 'Warranty', content: 'Frames have a warranty of ten years.' } })
  @ApiOperation({
    operationId: 'createSection',
    summary: 'Append a section at the end',
    description: 'Answers 409 section_name_taken when another section has the name.',
  })
  @ApiVersionHeader()
  @ApiCreatedResponse({ type: SectionResponse })
  @ApiErrors(new AgentWithSectionsNotFound(), new SectionNameTaken())
  async create(
    @AgentWriteTarget() target: WriteTarget,
    @Body() body: SectionBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SectionResponse> {
    const { result, version } = await this.changeSections.append(target, body);
    return single(reply, result, version);
  }

  @Patch(':sectionId')
  @LargeBody()
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ body: { content: 'Be friendly, brief and exact.' } })
  @ApiOperation({
    operationId: 'updateSection',
    summary: 'Rename or rewrite a section, which keeps its id and its place',
    description:
      'Send at least one of the fields. Answers 409 section_name_taken when another section has the name, and 404 section_not_found ' +
      'when the agent has no such section.',
  })
  @ApiVersionHeader()
  @ApiOkResponse({ type: SectionResponse })
  @ApiErrors(new AgentWithSectionsNotFound(), new SectionNotFound(), new SectionNameTaken())
  async change(
    @AgentWriteTarget() target: WriteTarget,
    @UuidParam('sectionId') sectionId: string,
    @Body() { name, content }: ChangeSectionBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SectionResponse> {
    if (name === undefined && content === undefined) {
      throw new ValidationFailed('body must have name, content or both');
    }
    const { result, version } = await this.changeSections.change(target, sectionId, { name, content });
    return single(reply, result, version);
  }

  @Delete(':sectionId')
  @HttpCode(204)
  @Access({ scope: 'manageAgents', resource: AGENT })
  @ApiExample({ path: { sectionId: EXAMPLE_IDS.deletedSection } })
  @ApiOperation({
    operationId: 'deleteSection',
    summary: 'Delete a section; the positions of the others close the gap',
    description: 'Answers 404 section_not_found when the agent has no such section.',
  })
  @ApiVersionHeader()
  @ApiNoContentResponse()
  @ApiErrors(new AgentWithSectionsNotFound(), new SectionNotFound(), 409)
  async delete(
    @AgentWriteTarget() target: WriteTarget,
    @UuidParam('sectionId') sectionId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { version } = await this.changeSections.remove(target, sectionId);
    void reply.header('etag', etagOf(version));
  }
}

function listed(reply: FastifyReply, sections: readonly Section[], version: number): SectionListResponse {
  void reply.header('etag', etagOf(version));
  return { sections: sections.map(sectionView) };
}

function single(reply: FastifyReply, section: Section, version: number): SectionResponse {
  void reply.header('etag', etagOf(version));
  return sectionView(section);
}
