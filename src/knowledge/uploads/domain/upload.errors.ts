import { DomainError } from '../../../platform/errors/index.js';
import { MAX_UPLOADS_OF_AGENT } from '../limits.js';

/** The upload was removed, belongs to another agent, or never existed. */
export class UploadNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no such uploaded file.');
  }
}

export class TooManyUploads extends DomainError {
  constructor() {
    super('unprocessable', `An agent has at most ${MAX_UPLOADS_OF_AGENT} uploaded files. Delete some of them first.`);
  }
}
