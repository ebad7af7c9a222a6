import { DomainError } from '../../platform/errors/index.js';

export class SessionStartHookNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no session-start hook.');
  }
}
