import { DomainError } from '../../platform/errors/index.js';

/** The same error for an agent that does not exist, is of another organization, or has a type without sections. */
export class AgentWithSectionsNotFound extends DomainError {
  constructor() {
    super('not_found', 'There is no such agent in this organization.', { error: 'agent_not_found' });
  }
}

/** Also for a section of another agent. */
export class SectionNotFound extends DomainError {
  constructor() {
    super('not_found', 'This agent has no such section.', { error: 'section_not_found' });
  }
}

/** The list of a request repeats a name. */
export class DuplicateSectionNames extends DomainError {
  constructor(names: readonly string[]) {
    super('invalid', 'body/sections must not contain a name more than once.', {
      error: 'duplicate_section_names',
      extra: { names },
    });
  }
}

/** Several stored sections share a name, so a list cannot be matched to them by name. */
export class ExistingDuplicateSectionNames extends DomainError {
  constructor(names: readonly string[]) {
    super(
      'conflict',
      'The agent has several sections with the same name, so a list cannot be matched to them by name. ' +
        'Rename or delete all but one of each first.',
      { error: 'existing_duplicate_section_names', extra: { names } },
    );
  }
}

export class SectionNameTaken extends DomainError {
  constructor() {
    super('conflict', 'Another section of this agent has this name.', { error: 'section_name_taken' });
  }
}
