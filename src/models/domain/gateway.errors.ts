import { DomainError } from '../../platform/errors/index.js';

export class GatewayNotPermitted extends DomainError {
  constructor() {
    super('forbidden', 'The plan of this organization does not include the routing gateway.', {
      code: 'forbidden_ai_gateway_not_permitted',
    });
  }
}

export class GatewayNotSet extends DomainError {
  constructor() {
    super('not_found', 'No gateway is set for this organization.');
  }
}
