import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { GatewaysModule } from '../models/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { AgentDataHolders } from './application/agent-data-holders.js';
import { AgentRouting } from './application/agent-routing.js';
import { AgentDirectory, AssistantLookup, ManagedAgentLookup } from './application/agent-directory.js';
import { ChangeAgent } from './application/change-agent.js';
import { CreateAgent } from './application/create-agent.js';
import { DeleteAgent } from './application/delete-agent.js';
import { KnowledgeTuning } from './application/knowledge-tuning.js';
import { PlanLimits } from './application/plan-limits.js';
import { ReadAgents, StoredAgentLookup } from './application/read-agents.js';
import { RestoreVersion } from './application/restore-version.js';
import { RotateProviderKey } from './application/rotate-provider-key.js';
import { VersionedParts } from './application/versioned-parts.js';
import { AgentWrites, VersionedWrite } from './application/versioned-write.js';
import { AgentVersionsController } from './http/agent-versions.controller.js';
import { AgentViews } from './http/agent-views.js';
import { AgentsController, AssistantsController } from './http/agents.controller.js';
import { PurgeVersions, purgeVersions } from './jobs/purge-versions.job.js';
import { RemoveAgentData, removeAgentData } from './jobs/remove-agent-data.job.js';
import { AgentVersionsRepository } from './persistence/agent-versions.repository.js';
import { OldVersionsRepository } from './persistence/old-versions.repository.js';
import { AgentsRepository } from './persistence/agents.repository.js';

@Module({
  imports: [AccessModule, GatewaysModule, JobsModule.define(removeAgentData, purgeVersions)],
  controllers: [AgentVersionsController, AgentsController, AssistantsController],
  providers: [
    AgentDataHolders,
    AgentDirectory,
    AgentRouting,
    AgentVersionsRepository,
    AgentViews,
    AgentWrites,
    AgentsRepository,
    AssistantLookup,
    ChangeAgent,
    CreateAgent,
    DeleteAgent,
    KnowledgeTuning,
    ManagedAgentLookup,
    OldVersionsRepository,
    PlanLimits,
    PurgeVersions,
    ReadAgents,
    RemoveAgentData,
    RestoreVersion,
    RotateProviderKey,
    StoredAgentLookup,
    VersionedParts,
    VersionedWrite,
  ],
  exports: [AgentDataHolders, AgentDirectory, AgentRouting, AgentWrites, KnowledgeTuning, VersionedParts],
})
export class AgentsModule {}
