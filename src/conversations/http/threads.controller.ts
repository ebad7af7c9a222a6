import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import {
  Access,
  AnyCaller,
  type ApiKeyPrincipal,
  bodyResource,
  Caller,
  pathResource,
  type Principal,
  Resource,
} from '../../access/index.js';
import { FileDirectory } from '../../files/index.js';
import { ApiCauses, ApiErrors, ApiExample, EXAMPLE_IDS, UuidParam } from '../../platform/http/index.js';
import { CreateThread } from '../application/create-thread.js';
import { DeleteThread } from '../application/delete-thread.js';
import { ReadThreads } from '../application/read-threads.js';
import { ShowMessages } from '../application/show-messages.js';
import type { ThreadReference } from '../application/thread-lookup.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { ShownMessage } from '../domain/message.js';
import type { Thread } from '../domain/thread.js';
import { messageView } from '../engine/presenters.js';
import type { AttachmentResponse } from './attachments.dto.js';
import { ApiIdempotencyKey, Idempotency } from './idempotency-key.js';
import { MessageListResponse, MessageResponse } from './messages.dto.js';
import { ApiThreadHeader } from './thread-header.js';
import {
  CreateThreadBody,
  DeletedResponse,
  ListThreadsParameters,
  ReactionBody,
  ThreadListResponse,
  ThreadResponse,
} from './threads.dto.js';

const DEFAULT_PAGE = 100;

@ApiTags('Threads')
@Controller('v1/threads')
export class ThreadsController {
  constructor(
    private readonly createThread: CreateThread,
    private readonly readThreads: ReadThreads,
    private readonly deleteThread: DeleteThread,
    private readonly showMessages: ShowMessages,
    private readonly files: FileDirectory,
  ) {}

  @Post()
  @HttpCode(200)
  @Access({ scope: 'chat', resource: bodyResource('assistant', 'assistant_id'), rateLimit: 'chat' })
  @ApiExample({ body: { assistant_id: EXAMPLE_IDS.agent, metadata: { customer: 'c-17' } } })
  @ApiOperation({ operationId: 'createThread', summary: 'Open a conversation with an agent' })
  @ApiIdempotencyKey()
  @ApiOkResponse({ type: ThreadResponse })
  @ApiErrors(404)
  @ApiCauses(422, 'unprocessable_entity')
  async create(
    @Caller() caller: ApiKeyPrincipal,
    @Body() body: CreateThreadBody,
    @Idempotency('thread') idempotency: IdempotentRequest | undefined,
  ): Promise<ThreadResponse> {
    const { assistant_id: agentId, metadata } = body;
    const opened = { channel: 'api', metadata } as const;
    return threadView(await this.createThread.execute(caller.organizationId, agentId, opened, idempotency));
  }

  @Get()
  @Access({ scope: 'chat' })
  @ApiOperation({
    operationId: 'listThreads',
    summary: 'List threads, the latest activity first',
    description: 'Pass `nextCursor` back as `cursor` until it is null. A key with an allowlist sees its agents alone.',
  })
  @ApiOkResponse({ type: ThreadListResponse })
  async listAll(
    @Caller() caller: ApiKeyPrincipal,
    @Query() { assistant_id: assistantId, cursor, limit }: ListThreadsParameters,
  ): Promise<ThreadListResponse> {
    const { items, nextCursor } = await this.readThreads.list(caller, assistantId, cursor, limit ?? DEFAULT_PAGE);
    return { threads: items.map(({ thread }) => threadView(thread)), nextCursor };
  }

  @Get(':threadId')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiOperation({ operationId: 'getThread', summary: 'Read a thread' })
  @ApiThreadHeader()
  @ApiOkResponse({ type: ThreadResponse })
  @ApiErrors(404)
  async read(@Caller() caller: ApiKeyPrincipal, @UuidParam('threadId') threadId: string): Promise<ThreadResponse> {
    return threadView(await this.readThreads.find(caller.organizationId, threadId));
  }

  @Delete(':threadId')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiExample({ path: { threadId: EXAMPLE_IDS.deletedThread } })
  @ApiOperation({
    operationId: 'deleteThread',
    summary: 'Delete a thread with its messages and traces',
    description: 'Cannot be undone. A run under way is cancelled.',
  })
  @ApiThreadHeader()
  @ApiOkResponse({ type: DeletedResponse })
  @ApiErrors(404)
  async remove(@Caller() caller: ApiKeyPrincipal, @UuidParam('threadId') threadId: string): Promise<DeletedResponse> {
    await this.deleteThread.execute(caller.organizationId, threadId);
    return { id: threadId, deleted: true };
  }

  @Put(':threadId/messages/:messageId/reaction')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId') })
  @ApiExample({ body: { reaction: 'thumbs_up', comment: 'Just what I needed.' } })
  @ApiOperation({
    operationId: 'reactToMessage',
    summary: 'React to a reply',
    description: 'A message has one reaction; a new one replaces it, null takes it back.',
  })
  @ApiThreadHeader()
  @ApiOkResponse({ type: MessageResponse })
  @ApiErrors(404)
  async react(
    @Caller() caller: ApiKeyPrincipal,
    @Resource('thread') thread: ThreadReference,
    @UuidParam('messageId') messageId: string,
    @Body() { reaction, comment }: ReactionBody,
  ): Promise<MessageResponse> {
    const { organizationId } = caller;
    const kept = await this.showMessages.react(organizationId, thread.id, messageId, reaction, comment ?? null);
    return messageView(kept, thread.agent.toolProgress);
  }

  @Get(':threadId/messages')
  @Access({ scope: 'chat', resource: pathResource('thread', 'threadId'), sessionPass: true })
  @ApiOperation({
    operationId: 'listMessages',
    summary: 'Read the newest 200 messages of a thread, oldest first',
    description:
      'As many of these as fit into 4 MiB, at least the newest one. `truncated` is set if there are older ones, left ' +
      'out for their number or their size.',
  })
  @ApiThreadHeader()
  @ApiOkResponse({ type: MessageListResponse })
  @ApiErrors(404)
  async list(
    @AnyCaller() caller: Principal,
    @UuidParam('threadId') threadId: string,
    @Resource('thread') thread: ThreadReference,
    @Req() request: FastifyRequest,
  ): Promise<MessageListResponse> {
    const { toolProgress } = thread.agent;
    const page = await this.showMessages.list(caller.organizationId, threadId, toolProgress);
    const origin = `${request.protocol}://${request.host}`;
    const messages = page.messages.map((message) => messageView(message, toolProgress, this.attached(message, origin)));
    return { messages, truncated: page.hasMore };
  }

  private attached({ attachments = [] }: ShownMessage, origin: string): AttachmentResponse[] {
    return attachments.map(({ name, url, fileId, contentType }) => ({
      name,
      url: url ?? this.files.urlOf(fileId, origin),
      contentType,
    }));
  }
}

function threadView(thread: Thread): ThreadResponse {
  return {
    id: thread.id,
    assistant_id: thread.agentId,
    title: thread.title,
    channel: thread.channel,
    metadata: thread.metadata,
    createdAt: thread.createdAt.toISOString(),
    updatedAt: thread.updatedAt.toISOString(),
    lastMessageAt: thread.lastMessageAt?.toISOString() ?? null,
  };
}
