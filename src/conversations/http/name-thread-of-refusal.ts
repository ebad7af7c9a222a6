import { type ArgumentsHost, Catch } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasCapability, mayUseAgent, principalOf } from '../../access/index.js';
import { ErrorFilter, THREAD_ID_HEADER } from '../../platform/http/index.js';
import { isUuid } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { RunAgUi } from '../application/run-ag-ui.js';
import { MAX_ID } from './content-limits.js';

/**
 * Adds the thread header to refusals of an AG-UI run that come before its handler has looked the thread up: by the rate
 * limit or the body's schema. Not for callers that may not chat with the agent.
 */
@Catch()
export class NameThreadOfRefusal extends ErrorFilter {
  constructor(
    logger: Logger,
    private readonly runAgUi: RunAgUi,
  ) {
    super(logger);
  }

  override catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const answer = (): void => {
      super.catch(error, host);
    };
    if (reply.hasHeader(THREAD_ID_HEADER)) answer();
    // The refusal is sent even when the look-up fails.
    else this.nameThread(http.getRequest<FastifyRequest>(), reply).then(answer, answer);
  }

  private async nameThread(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const principal = principalOf(request);
    const { agentId } = request.params as { readonly agentId?: unknown };
    const { threadId } = (request.body ?? {}) as { readonly threadId?: unknown };
    if (!principal || !isUuid(agentId) || typeof threadId !== 'string' || threadId.length > 2 * MAX_ID) return;
    if (!hasCapability(principal, 'chat') || !mayUseAgent(principal, agentId.toLowerCase())) return;
    const id = await this.runAgUi.findThreadId(principal.organizationId, agentId.toLowerCase(), threadId);
    if (id !== null) void reply.header(THREAD_ID_HEADER, id);
  }
}
