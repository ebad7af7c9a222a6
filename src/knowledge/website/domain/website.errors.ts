import { DomainError } from '../../../platform/errors/index.js';

export const WEBSITE_UNSUPPORTED = 'provider_does_not_support_website_sync';

export class WebsiteUnsupported extends DomainError {
  constructor() {
    super('invalid', 'Agents of this type have no websites.', { error: WEBSITE_UNSUPPORTED, bare: true });
  }
}

export class WebsiteNotSet extends DomainError {
  constructor() {
    super('not_found', 'The agent has no websites.');
  }
}

/** Another crawl has replaced this one, or its agent was deleted: nothing of it may be stored. */
export class CrawlSuperseded extends Error {}
