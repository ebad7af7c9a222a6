import { DomainError } from '../../platform/errors/index.js';

export class ContentTypeMismatch extends DomainError {
  constructor(declared: string, shown: string | undefined) {
    const bytes = shown === undefined ? 'its bytes are not' : `its bytes are ${shown}`;
    super('invalid', `body/file is declared as ${declared}, but ${bytes}.`, { code: 'FST_ERR_VALIDATION' });
  }
}

/** The attachments of active runs have used up the memory for them (`AttachmentMemory`). */
export class AttachmentMemoryFull extends DomainError {
  constructor() {
    const message =
      'The service has no memory for more attachments at the moment. Send the message again in a few seconds.';
    super('unavailable', message, { retryAfterSeconds: 5 });
  }
}

export class FileNotFound extends DomainError {
  constructor() {
    super('not_found', 'There is no such file.');
  }
}

export class FileUrlInvalid extends DomainError {
  constructor() {
    super('forbidden', 'The signature of this URL is not valid.', { code: 'file_url_invalid' });
  }
}

export class FileUrlExpired extends DomainError {
  constructor() {
    super('gone', 'This URL has expired.', { code: 'file_url_expired' });
  }
}
