import { isUuid } from '../../platform/ids/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { CAPABILITIES, type Capability, isCapability } from './capability.js';
import { checkName } from './text.js';

export interface NewApiKey {
  readonly id: string;
  readonly organizationId: string;
  /** The member who issues it. */
  readonly memberId: string;
  readonly name: string;
  readonly capabilities: readonly string[];
  /** The allowlist; null means every agent. */
  readonly agentIds: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly digest: Buffer;
  readonly last4: string;
}

/** The latest time whose year has four digits, as the stored and the wire format need. */
const LAST_TIME = new Date('9999-12-31T23:59:59.999Z');

/** A credential of an organization. Only the digest of the key is stored. */
export class ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly memberId: string;
  readonly name: string;
  readonly capabilities: Capability[];
  readonly agentIds: string[] | null;
  readonly digest: Buffer;
  readonly last4: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  revokedAt: Date | null;
  readonly lastUsedAt: Date | null;

  /** @throws ValidationFailed naming the field */
  constructor(key: NewApiKey, now: Date) {
    if (key.expiresAt !== null && key.expiresAt <= now) throw new ValidationFailed('expiresAt: must be in the future');
    if (key.expiresAt !== null && key.expiresAt > LAST_TIME) {
      throw new ValidationFailed('expiresAt: must not be after 9999-12-31T23:59:59.999Z');
    }
    this.id = key.id;
    this.organizationId = key.organizationId;
    this.memberId = key.memberId;
    this.name = checkName(key.name);
    this.capabilities = checkCapabilities(key.capabilities);
    this.agentIds = key.agentIds && checkAgentIds(key.agentIds);
    this.digest = key.digest;
    this.last4 = key.last4;
    this.createdAt = now;
    this.expiresAt = key.expiresAt;
    this.revokedAt = null;
    this.lastUsedAt = null;
  }

  revoke(now: Date): void {
    this.revokedAt ??= now;
  }
}

function checkCapabilities(names: readonly string[]): Capability[] {
  const known = [...new Set(names)].filter(isCapability);
  if (known.length === 0 || known.length !== new Set(names).size) {
    throw new ValidationFailed(`capabilities: must name at least one of ${CAPABILITIES.join(', ')}, and nothing else`);
  }
  return known;
}

function checkAgentIds(ids: readonly string[]): string[] {
  if (ids.length === 0 || !ids.every(isUuid)) {
    throw new ValidationFailed('agentIds: must hold at least one agent id; leave it out to allow every agent');
  }
  return [...new Set(ids.map((id) => id.toLowerCase()))];
}
