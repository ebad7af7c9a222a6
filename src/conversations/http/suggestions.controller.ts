import { Body, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Access, bodyResource, Caller, type ApiKeyPrincipal } from '../../access/index.js';
import {
  ApiCauses,
  ApiErrors,
  ApiExample,
  disconnectSignal,
  EXAMPLE_IDS,
  LargeBody,
} from '../../platform/http/index.js';
import { SuggestNext } from '../application/suggest-next.js';
import { SuggestionsBody, SuggestionsResponse } from './suggestions.dto.js';

@ApiTags('Chat')
@Controller('v1/chat/suggestions')
export class SuggestionsController {
  constructor(private readonly suggestNext: SuggestNext) {}

  @Post()
  @HttpCode(200)
  @LargeBody()
  @Access({ scope: 'chat', resource: bodyResource('assistant', 'assistant_id'), rateLimit: 'chat' })
  @ApiExample({
    body: {
      assistant_id: EXAMPLE_IDS.agent,
      messages: [
        { role: 'user', content: 'Which bicycle is good in the mountains?' },
        { role: 'assistant', content: 'The Climber 500.' },
      ],
    },
  })
  @ApiOperation({
    operationId: 'suggestNext',
    summary: 'Suggest three short things that the user could say next',
    description:
      'One call of the agent’s model, and one more where it does not answer with suggestions, of at most 30 seconds together. ' +
      'No message is stored and no tool runs. Tokens and credits count as those of runs do. `UserPromptSubmit` hooks are asked ' +
      'about the newest user message; where one blocks it, there are no suggestions.',
  })
  @ApiOkResponse({ type: SuggestionsResponse })
  @ApiErrors(404, 502, 504)
  @ApiCauses(422, 'unprocessable_entity')
  async suggest(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @Body() { assistant_id: agentId, messages }: SuggestionsBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SuggestionsResponse> {
    const disconnected = disconnectSignal(reply);
    try {
      return { suggestions: await this.suggestNext.execute(organizationId, agentId, messages, disconnected) };
    } catch (error) {
      // The caller has disconnected, so this is no failure.
      if (disconnected.aborted) return { suggestions: [] };
      throw error;
    }
  }
}
