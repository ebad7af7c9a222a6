import { Inject, Injectable } from '@nestjs/common';
import type { RunnableAgent } from '../../agents/index.js';
import { AgentLoops, apiOf, ModelGateway, providerTools } from '../../models/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import { agentCannotRun, clientToolNameTaken, serviceStopping } from '../domain/conversations.errors.js';
import type { RunOptions } from '../domain/run-options.js';
import { FIND_TOOLS } from '../engine/find-tools.js';
import { RUN_ADMISSIONS, TOOL_SOURCES } from '../engine/run-extensions.js';
import type { RunAdmission, ToolSource } from '../ports/index.js';

/**
 * Refuses a run, before anything is stored, when it is known that the agent's model cannot or may not be called, or that
 * tools of the caller have names of the agent's tools.
 */
@Injectable()
export class AdmitRun {
  constructor(
    private readonly models: ModelGateway,
    private readonly loops: AgentLoops,
    private readonly shutdown: ShutdownState,
    @Inject(RUN_ADMISSIONS) private readonly admissions: readonly RunAdmission[],
    @Inject(TOOL_SOURCES) private readonly toolSources: readonly ToolSource[],
  ) {}

  /**
   * @throws DomainError `unavailable` while the process stops, `unprocessable`, `invalid` for the name of a tool, and the
   * refusals of other contexts
   */
  async execute(organizationId: string, agent: RunnableAgent, { clientTools = [] }: RunOptions = {}): Promise<void> {
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
    if (clientTools.length > 0) await this.checkNames(organizationId, agent, clientTools);
  }

  private async checkNames(
    organizationId: string,
    agent: RunnableAgent,
    clientTools: NonNullable<RunOptions['clientTools']>,
  ): Promise<void> {
    const names = await Promise.all(this.toolSources.map((source) => source.namesOf(organizationId, agent)));
    const taken = new Set([FIND_TOOLS, ...providerTools(agent.options), ...names.flat()]);
    for (const [index, { name }] of clientTools.entries()) {
      if (taken.has(name)) throw clientToolNameTaken(index, name);
    }
  }
}
