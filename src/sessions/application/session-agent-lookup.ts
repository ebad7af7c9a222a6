import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ResourceLookup, ResourceLookups } from '../../access/index.js';
import { AgentDirectory, type RunnableAgent } from '../../agents/index.js';
import { SessionAgentNotFound } from '../domain/sessions.errors.js';

/** The guard's look-up of the agent that a session is minted for, of every type; its absence has the sessions' own body. */
export const SESSION_AGENT = 'session-agent';

@Injectable()
export class SessionAgentLookup extends ResourceLookup<RunnableAgent> implements OnModuleInit {
  readonly kind = SESSION_AGENT;

  constructor(
    private readonly agents: AgentDirectory,
    private readonly lookups: ResourceLookups,
  ) {
    super();
  }

  onModuleInit(): void {
    this.lookups.register(this);
  }

  find(organizationId: string, id: string): Promise<RunnableAgent | null> {
    return this.agents.find(organizationId, id);
  }

  absent(): SessionAgentNotFound {
    return new SessionAgentNotFound();
  }
}
