import { Global, Module } from '@nestjs/common';
import { APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { MemoryWindows, RedisWindows } from '../platform/limits/index.js';
import { AddMember } from './application/add-member.js';
import { AuthenticateApiKey } from './application/authenticate-api-key.js';
import { BatchedKeyLookup } from './application/batched-key-lookup.js';
import { CreateOrganization } from './application/create-organization.js';
import { FirstOrganization } from './application/first-organization.js';
import { IssueApiKey } from './application/issue-api-key.js';
import { OrganizationDirectory } from './application/organization-directory.js';
import { RecordKeyUse } from './application/record-key-use.js';
import { ResourceLookups } from './application/resource-lookup.js';
import { RevokeApiKey } from './application/revoke-api-key.js';
import { SessionPasses } from './application/session-passes.js';
import { UpdateOrganization } from './application/update-organization.js';
import { UsableApiKeys } from './application/usable-api-keys.js';
import { AccessHooks } from './http/access-hooks.js';
import { AccessGuard } from './http/access.guard.js';
import { ApiKeysController } from './http/api-keys.controller.js';
import { BudgetGuard, budgets } from './http/budget.guard.js';
import { FailedCredentials } from './http/failed-credentials.js';
import { LimitRefusals } from './http/limit-refusals.js';
import { RouteDeclarations } from './http/route-declarations.js';
import { ApiKeyRepository } from './persistence/api-key.repository.js';
import { MemberRepository } from './persistence/member.repository.js';
import { OrganizationRepository } from './persistence/organization.repository.js';

/** Authentication and access control. Global, because every context declares the access of its routes and registers lookups. */
@Global()
@Module({
  imports: [
    DiscoveryModule,
    ThrottlerModule.forRootAsync({ inject: [MemoryWindows, RedisWindows], useFactory: budgets }),
  ],
  controllers: [ApiKeysController],
  providers: [
    // Their order is part of the interface.
    { provide: APP_GUARD, useExisting: BudgetGuard },
    { provide: APP_GUARD, useClass: AccessGuard },
    AccessHooks,
    AddMember,
    ApiKeyRepository,
    AuthenticateApiKey,
    BatchedKeyLookup,
    BudgetGuard,
    CreateOrganization,
    FailedCredentials,
    FirstOrganization,
    IssueApiKey,
    LimitRefusals,
    MemberRepository,
    OrganizationDirectory,
    OrganizationRepository,
    RecordKeyUse,
    ResourceLookups,
    RevokeApiKey,
    RouteDeclarations,
    SessionPasses,
    UpdateOrganization,
    UsableApiKeys,
  ],
  exports: [
    AccessHooks,
    FirstOrganization,
    OrganizationDirectory,
    ResourceLookups,
    RouteDeclarations,
    SessionPasses,
    UsableApiKeys,
  ],
})
export class AccessModule {}
