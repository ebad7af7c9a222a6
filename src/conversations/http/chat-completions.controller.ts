import { Body, Controller, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, bodyResource, Caller, type ApiKeyPrincipal, Resource } from '../../access/index.js';
import type { RunnableAgent } from '../../agents/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import {
  ApiCauses,
  ApiErrors,
  ApiExample,
  disconnectSignal,
  EXAMPLE_IDS,
  LargeBody,
  addRequestFacts,
  THREAD_ID_HEADER,
} from '../../platform/http/index.js';
import { CompleteChat } from '../application/complete-chat.js';
import type { ThreadReference } from '../application/thread-lookup.js';
import { runFailed, threadBusy, threadNotFound } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import type { CallerSpan } from '../ports/index.js';
import { ChatCompletionBody, ChatCompletionResponse } from './chat-completions.dto.js';
import { readConversation } from './chat-completions.messages.js';
import { readTools } from './chat-completions.tools.js';
import { completion, completionFields } from './chat-completions.presenters.js';
import { ApiIdempotencyKey, Idempotency } from './idempotency-key.js';
import { readCompletionFormat } from './response-format.dto.js';
import { ApiChatCompletion } from './run-events.dto.js';
import { RunStreams } from './run-streams.js';
import { ApiThreadHeader } from './thread-header.js';
import { ApiTraceParent, TraceParent } from './trace-parent.js';

const BODY_EXAMPLES = {
  'Wait for the reply': { assistant_id: EXAMPLE_IDS.agent, messages: [{ role: 'user', content: 'Hello!' }] },
  'Stream the reply': {
    assistant_id: EXAMPLE_IDS.agent,
    messages: [{ role: 'user', content: 'Hello!' }],
    stream: true,
  },
  'As a client of the OpenAI API asks': {
    model: EXAMPLE_IDS.agent,
    messages: [
      { role: 'system', content: 'Answer in one sentence.' },
      { role: 'user', content: 'Hello!' },
    ],
  },
};

/** The API of OpenAI: its official clients work with this service's address and key. */
@ApiTags('Chat')
@Controller('v1/chat/completions')
export class ChatCompletionsController {
  constructor(
    private readonly completeChat: CompleteChat,
    private readonly streams: RunStreams,
  ) {}

  @Post()
  @LargeBody()
  @Access({
    scope: 'chat',
    resource: [bodyResource('assistant', 'assistant_id', 'model'), bodyResource('thread', 'thread_id')],
    rateLimit: 'chat',
  })
  @ApiExample({ bodies: BODY_EXAMPLES })
  @ApiOperation({
    operationId: 'createChatCompletion',
    summary: 'Answer a conversation in the format of the OpenAI chat completions API',
    description:
      'Official OpenAI clients work unchanged: give the id of an agent as `model`, or `assistant_id`. Fields that are ' +
      'not listed here are ignored. The agent runs its own tools; calls of the client’s `tools` are answered as `tool_calls`, ' +
      'and the next request has their results as `tool` messages. The run continues when ' +
      'the caller disconnects; its reply is in the thread. With `stream`, errors known before the first event are answered ' +
      'as JSON; one that comes later is an event `{"error": {message, type, code}}`, followed by `[DONE]`.',
  })
  @ApiIdempotencyKey()
  @ApiTraceParent()
  @ApiThreadHeader()
  @ApiChatCompletion(ChatCompletionResponse)
  @ApiErrors(404, threadBusy(), 502, 504)
  @ApiCauses(422, 'unprocessable_entity')
  async create(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Resource('assistant') agent: RunnableAgent | undefined,
    @Resource('thread') thread: ThreadReference | undefined,
    @Body() body: ChatCompletionBody,
    @Idempotency('chat_completion') idempotency: IdempotentRequest | undefined,
    @TraceParent() callerSpan: CallerSpan | null,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (agent && thread && thread.agentId !== agent.id) {
      // The agent has no such thread.
      void reply.removeHeader(THREAD_ID_HEADER);
      throw threadNotFound();
    }
    if (!agent) throw new ValidationFailed('body/assistant_id is required, or body/model must be the id of an agent');
    const { options, ...choice } = readTools(body);
    const run = await this.completeChat.execute({
      ...{ organizationId, agent, thread: thread ?? null, callerSpan, idempotency },
      ...readConversation(body.messages, body.assistant_id === undefined ? 'model' : 'assistant'),
      ...choice,
      userContext: body.config?.userContext ?? null,
      showReasoning: false,
      options: { ...options, ...readCompletionFormat(body.response_format) },
      // The API has no way to ask for approval.
      nonInteractive: true,
      disconnected: () => disconnectSignal(reply),
    });
    void reply.header(THREAD_ID_HEADER, run.threadId);
    addRequestFacts(reply.request, { runId: run.runId, agentId: run.agentId });
    if (body.stream === true) {
      await this.streams.sendCompletion(reply, run, body.stream_options?.include_usage === true);
      return;
    }
    const ended = await run.ended;
    if (ended.failure) throw runFailed(ended.failure.error, ended.failure.facts);
    void reply.status(200).send(completion(completionFields(run), ended, (body.response_format ?? null) !== null));
  }
}
