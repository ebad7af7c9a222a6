import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { newId, secureRandomBytes } from '../../platform/ids/index.js';
import { ForbiddenByKeyRole, MemberNotFound, OrganizationNotFound } from '../domain/access.errors.js';
import { ApiKey } from '../domain/api-key.js';
import { API_KEY_BYTES, digestApiKey, formatApiKey, lastFour } from '../domain/api-key-format.js';
import { isCapability } from '../domain/capability.js';
import type { Member } from '../domain/member.js';
import { hasCapability, type ApiKeyPrincipal } from '../domain/principal.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import { MemberRepository } from '../persistence/member.repository.js';
import { ResourceLookups } from './resource-lookup.js';

export interface ApiKeyRequest {
  readonly name: string;
  readonly capabilities: readonly string[];
  /** The allowlist; undefined or null allows every agent. */
  readonly agentIds?: readonly string[] | null;
  readonly expiresAt?: Date | null;
}

export interface IssuedApiKey {
  /** Not stored; shown only in the response. */
  readonly key: string;
  readonly record: ApiKey;
}

/** Creates an API key. Only its digest and its last four characters are stored. */
@Injectable()
export class IssueApiKey {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly members: MemberRepository,
    private readonly keys: ApiKeyRepository,
    private readonly lookups: ResourceLookups,
  ) {}

  /**
   * For a caller, who cannot grant capabilities that the calling key lacks.
   * @throws ForbiddenByKeyRole, ValidationFailed
   */
  async byCaller(caller: ApiKeyPrincipal, request: ApiKeyRequest): Promise<IssuedApiKey> {
    for (const capability of request.capabilities) {
      if (isCapability(capability) && !hasCapability(caller, capability)) throw ForbiddenByKeyRole.lacking(capability);
    }
    const member = await this.members.find(caller.organizationId, caller.memberId);
    if (!member?.mayIssueApiKeys) {
      throw new ForbiddenByKeyRole('API keys are issued by an owner or an admin of the organization.');
    }
    const issued = this.generate(member, request);
    await this.checkAgents(caller.organizationId, issued.record.agentIds ?? []);
    return this.store(issued);
  }

  /**
   * For the operator, on behalf of a member, by default the organization's owner. The agents of the allowlist are not checked: an
   * id that is not an agent of the organization gives access to nothing.
   * @throws OrganizationNotFound, MemberNotFound, ValidationFailed
   */
  async byOperator(
    organizationId: string,
    memberId: string | undefined,
    request: ApiKeyRequest,
  ): Promise<IssuedApiKey> {
    const owner = await this.members.findOwner(organizationId);
    if (!owner) throw new OrganizationNotFound(organizationId);
    const member = memberId === undefined ? owner : await this.members.find(organizationId, memberId);
    if (!member) throw new MemberNotFound(String(memberId));
    return this.store(this.generate(member, request));
  }

  /** In an open transaction, without checking the agents of the allowlist. */
  async within(transaction: Transaction, member: Member, request: ApiKeyRequest): Promise<IssuedApiKey> {
    const issued = this.generate(member, request);
    await this.keys.add(transaction, issued.record);
    return issued;
  }

  private async store(issued: IssuedApiKey): Promise<IssuedApiKey> {
    await this.database.transaction((transaction) => this.keys.add(transaction, issued.record));
    return issued;
  }

  private generate(member: Member, request: ApiKeyRequest): IssuedApiKey {
    const key = formatApiKey(secureRandomBytes(API_KEY_BYTES));
    const record = new ApiKey(
      {
        id: newId(),
        organizationId: member.organizationId,
        memberId: member.id,
        name: request.name,
        capabilities: request.capabilities,
        agentIds: request.agentIds ?? null,
        expiresAt: request.expiresAt ?? null,
        digest: digestApiKey(key),
        last4: lastFour(key),
      },
      this.clock.now(),
    );
    return { key, record };
  }

  private async checkAgents(organizationId: string, agentIds: readonly string[]): Promise<void> {
    for (const id of agentIds) {
      const agent = await this.lookups.of('agent').find(organizationId, id, false);
      if (!agent) throw new ValidationFailed(`agentIds: the organization has no agent ${id}`);
    }
  }
}
