import { DomainError } from '../../platform/errors/index.js';
import type { Month } from './period.js';

/** The body is that of every `422` of routes that start runs. */
export class CreditsExhausted extends DomainError {
  constructor(included: number, next: Month) {
    super(
      'unprocessable',
      `The organization has used up the ${included} credits of this month. Until ${next.toISOString()}, or until more are ` +
        'included, only agents with an API key of their own run.',
      { error: 'unprocessable_entity', bare: true },
    );
  }
}
