/** Identifies a gateway at its operator. The token is in the vault. */
export interface GatewayAddress {
  readonly edgeAccountId: string;
  readonly gatewayName: string;
}

/** The gateway of an organization, which its agents may override. */
export interface OrganizationGateway extends GatewayAddress {
  readonly updatedAt: Date;
}

export interface GatewayWithToken extends GatewayAddress {
  readonly token: string;
}

/** Lengths in characters; the first is also that of an account id. */
export const MAX_GATEWAY_NAME = 255;
export const MAX_GATEWAY_TOKEN = 4_096;

/** One segment of a path, except `.` and `..`, which would leave the path of the gateway. */
export const PATH_PART = /^(?!\.{1,2}$)/;

/** Characters that an HTTP header accepts, without spaces. */
export const HEADER_TOKEN = /^[\x21-\x7e]+$/;
