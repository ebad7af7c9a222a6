import { DomainError } from '../../platform/errors/index.js';

/** Absent, of another organization, or of a type that has no sections: answered alike. */
export class AgentWithSectionsNotFound extends DomainError {
  constructor() {
    super('not_found', 'There is no such agent in this organization.', { error: 'agent_not_found' });
  }
}

/** Absent and of another agent are answered alike. */
export class SectionNotFound extends DomainError {
  constructor() {
    super('not_found', 'This agent has no such section.', { error: 'section_not_found' });
  }
}

/** A complete list names a section more than once. */
export class DuplicateSectionNames extends DomainError {
  constructor(names: readonly string[]) {
    super('invalid', 'body/sections names a section more than once; each name may be there once.', {
      error: 'duplicate_section_names',
      extra: { names },
    });
  }
}

/** The stored sections cannot be matched by name. */
export class ExistingDuplicateSectionNames extends DomainError {
  constructor(names: readonly string[]) {
    super(
      'conflict',
      'The agent already has several sections of one name, so that a list of names cannot be matched to them. ' +
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
