import { Controller, Delete, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { UserKeys } from '../../conversations/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { ApiErrors, ApiExample, UuidParam } from '../../platform/http/index.js';
import { EraseMemories } from '../application/erase-memories.js';
import { ReadMemories } from '../application/read-memories.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { ErasedMemoriesResponse, MemoriesQuery, MemoryListResponse, type MemoryResponse } from './memories.dto.js';

@ApiTags('Memories')
@Controller('v1/agents/:agentId/memories')
export class MemoriesController {
  constructor(
    private readonly readMemories: ReadMemories,
    private readonly eraseMemories: EraseMemories,
    private readonly users: UserKeys,
  ) {}

  @Get()
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiExample({ query: { userId: 'user-42' } })
  @ApiOperation({
    operationId: 'listMemories',
    summary: 'Read what an agent remembers of a user',
    description:
      'Includes memories from before long-term memory was switched off. The list is empty for an unknown user.',
  })
  @ApiOkResponse({ type: MemoryListResponse })
  @ApiErrors(404)
  async list(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { userId }: MemoriesQuery,
  ): Promise<MemoryListResponse> {
    const memories = await this.readMemories.execute(caller, await this.ownerOf(caller, agentId, userId));
    return { memories: memories.map(toResponse) };
  }

  @Delete()
  @Access({ scope: 'manageAgents', resource: pathResource('agent', 'agentId') })
  @ApiExample({ query: { userId: 'user-42' } })
  @ApiOperation({
    operationId: 'eraseMemories',
    summary: 'Erase what an agent remembers of a user',
    description: 'Conversations and traces stay as they are. Cannot be undone.',
  })
  @ApiOkResponse({ type: ErasedMemoriesResponse })
  @ApiErrors(404)
  async erase(
    @Caller() caller: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { userId }: MemoriesQuery,
  ): Promise<ErasedMemoriesResponse> {
    return { deleted: await this.eraseMemories.execute(caller, await this.ownerOf(caller, agentId, userId)) };
  }

  private async ownerOf({ organizationId }: ApiKeyPrincipal, agentId: string, userId: string): Promise<MemoryOwner> {
    const userKey = await this.users.of(organizationId, userId);
    if (userKey === null) throw new ValidationFailed('query/userId must be the id of a user');
    return { organizationId, agentId, userKey };
  }
}

function toResponse({ id, text, createdAt, updatedAt }: Memory): MemoryResponse {
  return { id, text, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
