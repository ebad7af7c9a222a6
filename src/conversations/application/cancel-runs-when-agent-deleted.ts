import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AgentDeleted } from '../../agents/index.js';
import { EventBus } from '../../platform/events/index.js';
import { RunSupervisor } from './run-supervisor.js';

/** Ends the runs of a deleted agent in this process. The heartbeat of any other process ends the agent's runs there. */
@Injectable()
export class CancelRunsWhenAgentDeleted implements OnModuleInit {
  constructor(
    private readonly events: EventBus,
    private readonly supervisor: RunSupervisor,
  ) {}

  onModuleInit(): void {
    this.events.subscribe(AgentDeleted, ({ agentId }) => {
      this.supervisor.abortAll('agent_deleted', (run) => run.agentId === agentId);
    });
  }
}
