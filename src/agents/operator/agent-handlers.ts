import { ValidationFailed } from '../../platform/errors/index.js';
import { type CommandHandler, idArgument, type OperatorKernel, UsageError } from '../../platform/command-line/index.js';
import { VersionedParts } from '../application/versioned-parts.js';
import { VersionedWrite } from '../application/versioned-write.js';
import type { OperatorSettings } from '../domain/agent.js';
import { BY_OPERATOR } from '../domain/agent-version.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

export const setAgent: CommandHandler = async (kernel, { positionals: [id], options }) => {
  const { type, 'disable-interactive-prompts': disable } = options;
  if (type === undefined && disable === undefined) throw new UsageError('nothing to set');
  const settings = parseSettings(type, disable);
  const { agent } = await versionedWrite(kernel).runForOperator(idArgument('id', id), BY_OPERATOR, (_, agent) =>
    Promise.resolve({ result: undefined, changes: agent.operate(settings) }),
  );
  const { disableInteractivePrompts } = agent.settings;
  return { id: agent.id, type: agent.type, disableInteractivePrompts, version: agent.version };
};

function versionedWrite({ open: { database }, clock, events }: OperatorKernel): VersionedWrite {
  const agents = new AgentsRepository(database);
  const versions = new AgentVersionsRepository(database);
  // No command changes the parts of other contexts, so none are registered.
  return new VersionedWrite(database, agents, versions, new VersionedParts(), clock, events);
}

function parseSettings(type: string | undefined, disable: string | undefined): OperatorSettings {
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
