import { Injectable } from '@nestjs/common';
import { ResourceLookup, ResourceLookups } from '../../access/index.js';
import { AgentDirectory, type CurrentAgent } from '../../agents/index.js';
import { SessionAgentNotFound } from '../domain/sessions.errors.js';

/**
 * The kind of resource with which the guard looks up the agent of a new session: agents of every type, with the body that the session
 * routes have for `404`. It always reads the database, so that no session starts with an agent that another process has deleted.
 */
export const SESSION_AGENT = 'session-agent';

@Injectable()
export class SessionAgentLookup extends ResourceLookup<CurrentAgent> {
  readonly kind = SESSION_AGENT;

  constructor(
    private readonly agents: AgentDirectory,
    lookups: ResourceLookups,
  ) {
    super();
    lookups.register(this);
  }

  find(organizationId: string, id: string): Promise<CurrentAgent | null> {
    return this.agents.current(organizationId, id);
  }

  absent(): SessionAgentNotFound {
    return new SessionAgentNotFound();
  }
}
