import { DomainError } from '../../platform/errors/index.js';
import { MAX_ENDPOINTS } from '../limits.js';

/** The same answer for webhooks of other organizations. */
export class WebhookNotFound extends DomainError {
  constructor() {
    super('not_found', 'The organization has no such webhook.');
  }
}

export class DeliveryNotFound extends DomainError {
  constructor() {
    super('not_found', 'The webhook has no such delivery; deliveries are kept for 30 days.');
  }
}

export class WebhookLimitReached extends DomainError {
  constructor() {
    super('conflict', `An organization has at most ${MAX_ENDPOINTS} webhooks; delete one first.`, {
      code: 'webhook_limit',
    });
  }
}

export class WebhookDisabled extends DomainError {
  constructor() {
    super('conflict', 'The webhook is switched off and receives nothing; enable it first.', {
      code: 'webhook_disabled',
    });
  }
}
