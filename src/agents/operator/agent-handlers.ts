import { ValidationFailed } from '../../platform/errors/index.js';
import { type CommandHandler, idArgument, type OperatorKernel, UsageError } from '../../platform/command-line/index.js';
import { OperateAgent } from '../application/operate-agent.js';
import { VersionedParts } from '../application/versioned-parts.js';
import { VersionedWrite } from '../application/versioned-write.js';
import type { OperatorSettings } from '../domain/agent.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

export const setAgent: CommandHandler = async (kernel, { positionals: [id], options }) => {
  const { type, 'disable-interactive-prompts': disable } = options;
  if (type === undefined && disable === undefined) throw new UsageError('nothing to set');
  const agent = await operateAgent(kernel).execute(idArgument('id', id), settingsOf(type, disable));
  const { disableInteractivePrompts } = agent.settings;
  return { id: agent.id, type: agent.type, disableInteractivePrompts, version: agent.version };
};

function operateAgent({ open: { database }, clock, events }: OperatorKernel): OperateAgent {
  const agents = new AgentsRepository(database);
  const versions = new AgentVersionsRepository(database);
  // The parts of other contexts are not registered here: no command changes them.
  return new OperateAgent(new VersionedWrite(database, agents, versions, new VersionedParts(), clock, events));
}

function settingsOf(type: string | undefined, disable: string | undefined): OperatorSettings {
  if (type !== undefined && type !== 'classic' && type !== 'standard')
    throw new ValidationFailed('--type: must be classic or standard');
  if (disable !== undefined && disable !== 'true' && disable !== 'false') {
    throw new ValidationFailed('--disable-interactive-prompts: must be true or false');
  }
  return {
    ...(type === undefined ? {} : { type }),
    ...(disable === undefined ? {} : { disableInteractivePrompts: disable === 'true' }),
  };
}
