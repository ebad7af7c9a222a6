import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, type Principal } from '../../../../../src/access/index.js';
import { DefineTerm } from '../application/define-term.js';
import { ReadTerms } from '../application/read-terms.js';
import { DefineTermBody, DefinedTermResponse, TermListResponse } from './terms.dto.js';

@ApiTags('Glossary')
@Controller('v1/glossary/terms')
export class TermsController {
  constructor(
    private readonly defineTerm: DefineTerm,
    private readonly readTerms: ReadTerms,
  ) {}

  @Post()
  @Access({ scope: 'manageAgents', level: 'organization' })
  @ApiOperation({ operationId: 'defineTerm', summary: 'Say what a word means' })
  @ApiCreatedResponse({ type: DefinedTermResponse })
  async define(
    @Caller() { organizationId }: Principal,
    @Body() { name, definition }: DefineTermBody,
  ): Promise<DefinedTermResponse> {
    return { id: await this.defineTerm.execute(organizationId, name, definition) };
  }

  @Get()
  @Access({ scope: 'none', level: 'organization' })
  @ApiOperation({ operationId: 'listTerms', summary: 'List the words' })
  @ApiOkResponse({ type: TermListResponse })
  async list(@Caller() { organizationId }: Principal): Promise<TermListResponse> {
    const terms = await this.readTerms.of(organizationId);
    return { terms: terms.map(({ id, name, definition, summary }) => ({ id, name, definition, summary })) };
  }
}
