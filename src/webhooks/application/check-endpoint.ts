import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '../../agents/index.js';
import { EgressRefused, SafeHttp } from '../../platform/egress/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import type { EndpointSettings } from '../domain/endpoint.js';

/** Checks what a request's schema cannot say. */
@Injectable()
export class CheckEndpoint {
  constructor(
    private readonly http: SafeHttp,
    private readonly agents: AgentDirectory,
  ) {}

  /** @throws ValidationFailed for a URL that must not be called, and for an agent that the organization does not have */
  async execute(organizationId: string, { url, agentIds }: Partial<EndpointSettings>): Promise<void> {
    if (url !== undefined) this.checkUrl(url);
    if (!agentIds) return;
    const known = await this.agents.visibleAgents(organizationId, new Set(agentIds));
    const unknown = agentIds.find((id) => !known.some((agent) => agent.id === id));
    if (unknown !== undefined) throw new ValidationFailed(`assistant_ids: the organization has no agent ${unknown}`);
  }

  private checkUrl(url: string): void {
    try {
      this.http.check(url, 'hook');
    } catch (error) {
      if (error instanceof EgressRefused) throw new ValidationFailed(`body/url: ${error.message}`);
      throw error;
    }
  }
}
