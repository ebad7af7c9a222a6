import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { EventBus } from '../../platform/events/index.js';
import { GatewayNotPermitted } from '../domain/gateway.errors.js';
import { OrganizationGatewayChanged } from '../domain/gateway.events.js';
import type { GatewayWithToken, OrganizationGateway } from '../domain/gateway.js';
import type { ModelRoute } from '../domain/model-runtime.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { isRouted, type RoutedModel, routeThrough } from '../providers/gateway-routes.js';

/** How long this process may use a gateway that another process has changed. */
const CACHE_MS = 5_000;
const CACHED_ORGANIZATIONS = 10_000;

/** A change takes effect at once in the process that makes it, and within 5 seconds in others. A gateway that the plan no longer includes is not used. */
@Injectable()
export class OrganizationGateways {
  // The object lets the cache also hold that there is no gateway, as for most organizations.
  private readonly settingsCache: TtlCache<{ readonly gateway: OrganizationGateway | null }>;
  private readonly tokenCache: TtlCache<{ readonly gateway: GatewayWithToken | null }>;

  constructor(
    private readonly gateways: GatewayRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly settings: Settings,
    clock: Clock,
    events: EventBus,
  ) {
    const options = { clock, ttlMs: CACHE_MS, maxEntries: CACHED_ORGANIZATIONS };
    this.settingsCache = new TtlCache(options);
    this.tokenCache = new TtlCache(options);
    events.subscribe(OrganizationGatewayChanged, ({ organizationId }) => {
      this.settingsCache.delete(organizationId);
      this.tokenCache.delete(organizationId);
    });
  }

  /** The gateway as it is stored; null if none is set. @throws GatewayNotPermitted */
  async read(organizationId: string): Promise<OrganizationGateway | null> {
    await this.requirePermitted(organizationId);
    return this.gateways.find(organizationId);
  }

  /** The gateway of the organization, if there is one and the plan includes it. Agents may override it. */
  async findEffective(organizationId: string): Promise<OrganizationGateway | null> {
    const load = async () => ({ gateway: await this.gateways.find(organizationId) });
    const gateway = (await this.settingsCache.get(organizationId, load))?.gateway ?? null;
    return gateway && (await this.isPermitted(organizationId)) ? gateway : null;
  }

  /** The route through the organization's gateway; undefined if the model is called directly. */
  async routeFor(organizationId: string, provider: RoutedModel): Promise<ModelRoute | undefined> {
    if (!isRouted(provider.type, provider.model)) return undefined;
    // Reads address and token at once, so that a token is never sent to an earlier address.
    const load = async () => ({ gateway: await this.gateways.findWithToken(organizationId) });
    const gateway = (await this.tokenCache.get(organizationId, load))?.gateway;
    return gateway ? this.routeVia(organizationId, provider, gateway) : undefined;
  }

  /** The route through this gateway; undefined if the model is called directly. */
  async routeVia(
    organizationId: string,
    provider: RoutedModel,
    gateway: GatewayWithToken,
  ): Promise<ModelRoute | undefined> {
    return (await this.isPermitted(organizationId))
      ? routeThrough(gateway, provider, this.settings.gateway)
      : undefined;
  }

  async isPermitted(organizationId: string): Promise<boolean> {
    return (await this.organizations.find(organizationId))?.features.has('ai_gateway') ?? false;
  }

  /** @throws GatewayNotPermitted */
  async requirePermitted(organizationId: string): Promise<void> {
    if (!(await this.isPermitted(organizationId))) throw new GatewayNotPermitted();
  }
}
