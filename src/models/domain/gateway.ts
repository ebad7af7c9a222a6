/** Where a routing gateway takes traffic; its token is in the vault. */
export interface GatewayAddress {
  readonly edgeAccountId: string;
  readonly gatewayName: string;
}

/** The gateway that an organization's agents route through unless they say otherwise. */
export interface OrganizationGateway extends GatewayAddress {
  readonly updatedAt: Date;
}

/** As the operator has set it. */
export interface GatewaySettings {
  readonly baseUrl: string;
  readonly tokenHeader: string;
}

/** A gateway with what opens it. */
export interface OpenGateway extends GatewayAddress {
  readonly token: string;
}

/** In characters: an account id or a name, and a token. */
export const MAX_GATEWAY_NAME = 255;
export const MAX_GATEWAY_TOKEN = 4_096;

/** One part of a path: these two would lead out of the gateway's own. */
export const PATH_PART = /^(?!\.{1,2}$)/;

/** What an HTTP header takes, without spaces. */
export const HEADER_TOKEN = /^[\x21-\x7e]+$/;
