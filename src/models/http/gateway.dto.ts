import { Equals } from 'class-validator';
import { BooleanField, field, withMessage, StringField, TimestampField } from '../../platform/http/index.js';
import {
  HEADER_TOKEN,
  MAX_GATEWAY_NAME,
  MAX_GATEWAY_TOKEN,
  type OrganizationGateway,
  PATH_PART,
} from '../domain/gateway.js';

export class SetGatewayBody {
  @field(
    { description: 'To stop routing, delete the gateway.' },
    { type: 'boolean', enum: [true] },
    Equals(true, withMessage('must be true; to stop routing, delete the gateway')),
  )
  readonly enabled!: true;
  @StringField({
    min: 1,
    max: MAX_GATEWAY_NAME,
    pattern: PATH_PART,
    description: 'Your account at the gateway: the first part of the path of requests to models.',
  })
  readonly edgeAccountId!: string;
  @StringField({
    min: 1,
    max: MAX_GATEWAY_NAME,
    pattern: PATH_PART,
    description: 'Name of the gateway within that account: the second part of the path.',
  })
  readonly gatewayName!: string;
  @StringField({ min: 1, max: MAX_GATEWAY_TOKEN, pattern: HEADER_TOKEN, description: 'Never returned.' })
  readonly edgeApiToken!: string;
}

export class GatewayResponse {
  @BooleanField({ description: 'Always true: without a gateway the response is `204`.' })
  readonly enabled!: true;
  @StringField({ description: 'The account at the gateway.' })
  readonly edgeAccountId!: string;
  @StringField({ description: 'Name of the gateway within the account.' })
  readonly gatewayName!: string;
  @TimestampField({ description: 'When the gateway was last set.' })
  readonly updatedAt!: string;
}

export class GatewayDeletedResponse {
  @BooleanField({ description: 'Always true. Agents now call their providers directly.' })
  readonly deleted!: true;
}

export function gatewayView({ edgeAccountId, gatewayName, updatedAt }: OrganizationGateway): GatewayResponse {
  return { enabled: true, edgeAccountId, gatewayName, updatedAt: updatedAt.toISOString() };
}
