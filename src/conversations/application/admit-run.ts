import { Inject, Injectable } from '@nestjs/common';
import type { RunnableAgent } from '../../agents/index.js';
import { AgentLoops, apiOf, ModelGateway } from '../../models/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import { agentCannotRun, serviceStopping } from '../domain/conversations.errors.js';
import { RUN_ADMISSIONS } from '../engine/run-extensions.js';
import type { RunAdmission } from '../ports/index.js';

/** Refuses a run, before anything is stored, when it is known that the agent's model cannot or may not be called. */
@Injectable()
export class AdmitRun {
  constructor(
    private readonly models: ModelGateway,
    private readonly loops: AgentLoops,
    private readonly shutdown: ShutdownState,
    @Inject(RUN_ADMISSIONS) private readonly admissions: readonly RunAdmission[],
  ) {}

  /** @throws DomainError `unavailable` while the process stops, `unprocessable`, and the refusals of other contexts */
  async execute(organizationId: string, agent: RunnableAgent): Promise<void> {
    if (this.shutdown.isStopping) throw serviceStopping();
    const { type, model, useOwnApiKey } = agent.provider;
    if (!this.models.canRun({ provider: type, model, hasOwnKey: useOwnApiKey })) {
      throw agentCannotRun(
        `The agent cannot run: neither it nor this service has a key for the provider ${apiOf(type, model).type}.`,
      );
    }
    const missing = this.loops.missing(type);
    if (missing !== null) throw agentCannotRun(missing);
    for (const admission of this.admissions) await admission.admit({ organizationId, agent });
  }
}
