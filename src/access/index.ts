import type { Context } from '../platform/context/index.js';
import { AccessModule } from './access.module.js';
import { accessSchema } from './persistence/access.schema.js';

export const accessContext = {
  name: 'access',
  modules: [AccessModule],
  schema: accessSchema,
} satisfies Context;

export { AccessModule, accessSchema };
export { CAPABILITIES, type Capability } from './domain/capability.js';
export { FEATURES, type Feature } from './domain/feature.js';
export { type Plan } from './domain/plan.js';
export {
  type ApiKeyPrincipal,
  hasCapability,
  mayUseAgent,
  type Principal,
  type SessionPassPrincipal,
} from './domain/principal.js';
export { ApiKeyRevoked, OrganizationChanged } from './domain/access.events.js';
export {
  ForbiddenByAgentAllowlist,
  ForbiddenForSessionPass,
  PassExpired,
  PassInvalid,
} from './domain/access.errors.js';
export {
  Access,
  type AccessDeclaration,
  bodyResource,
  pathResource,
  type ResourceReference,
} from './http/access.decorator.js';
export { AnyCaller, Caller, principalOf, Resource } from './http/request-access.js';
export { accessHooks } from './http/access-hooks.js';
export { RouteDeclarations } from './http/route-declarations.js';
export { ResourceLookup, ResourceLookups, type ResourceOfAgent } from './application/resource-lookup.js';
export { SessionPasses, type SessionPassVerifier } from './application/session-passes.js';
export { UsableApiKeys } from './application/usable-api-keys.js';
export { FirstOrganization, type FirstKey } from './application/first-organization.js';
export { retainedSince, type Retention } from './domain/retention.js';
export { type MemberRole } from './domain/member.js';
export { type CreditAllowance, includedBefore } from './domain/credit-allowance.js';
export { OrganizationDirectory, type OrganizationView } from './application/organization-directory.js';
