import { ValidationFailed } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import { type OperatorCommand, type OperatorKernel, readArguments, UsageError } from '../../platform/operator/index.js';
import { OperateAgent } from '../application/operate-agent.js';
import { VersionedParts } from '../application/versioned-parts.js';
import { VersionedWrite } from '../application/versioned-write.js';
import type { OperatorSettings } from '../domain/agent.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentsRepository } from '../persistence/agents.repository.js';

/** The operator's commands for agents. They are made without the framework. */
export function agentCommands({ open, clock, events }: OperatorKernel): OperatorCommand[] {
  const { database } = open;
  const agents = new AgentsRepository(database);
  const versions = new AgentVersionsRepository(database);
  // The parts of other contexts are not registered here: no command changes them.
  const writes = new VersionedWrite(database, agents, versions, new VersionedParts(), clock, events);
  return [setAgent(new OperateAgent(writes))];
}

function setAgent(useCase: OperateAgent): OperatorCommand {
  return {
    name: 'agent set',
    usage: 'agent set <id> [--disable-interactive-prompts true|false] [--type classic|standard]',
    run: async (args) => {
      const given = readArguments(args, { options: ['disable-interactive-prompts', 'type'], positionals: ['id'] });
      const { type, 'disable-interactive-prompts': disable } = given.options;
      if (type === undefined && disable === undefined) throw new UsageError('nothing to set');
      const agent = await useCase.execute(idOf(given.positionals[0] ?? ''), settingsOf(type, disable));
      const { disableInteractivePrompts } = agent.settings;
      return { id: agent.id, type: agent.type, disableInteractivePrompts, version: agent.version };
    },
  };
}

function settingsOf(type: string | undefined, disable: string | undefined): OperatorSettings {
  if (type !== undefined && type !== 'classic' && type !== 'standard') throw new ValidationFailed('--type: must be classic or standard');
  if (disable !== undefined && disable !== 'true' && disable !== 'false') {
    throw new ValidationFailed('--disable-interactive-prompts: must be true or false');
  }
  return {
    ...(type === undefined ? {} : { type }),
    ...(disable === undefined ? {} : { disableInteractivePrompts: disable === 'true' }),
  };
}

function idOf(text: string): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  throw new ValidationFailed(`id: '${text}' is not an id (a UUID)`);
}
