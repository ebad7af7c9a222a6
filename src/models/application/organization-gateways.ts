import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../access/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Settings } from '../../platform/config/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Vault } from '../../platform/vault/index.js';
import { GatewayNotPermitted } from '../domain/gateway.errors.js';
import { OrganizationGatewayChanged } from '../domain/gateway.events.js';
import type { OpenGateway, OrganizationGateway } from '../domain/gateway.js';
import type { ModelRoute } from '../domain/model-runtime.js';
import { GatewayRepository } from '../persistence/gateway.repository.js';
import { isRouted, type RoutedModel, routeThrough } from '../providers/gateway-routes.js';
import { gatewayTokenOf } from './gateway-secret.js';

/** How old a gateway may be that traffic goes through, when another process changed it. */
const CACHE_MS = 5_000;
const CACHED_ORGANIZATIONS = 10_000;

/**
 * The gateways that organizations have set. Answers from memory: a change shows at once in the process that
 * made it, elsewhere within 5 seconds. A gateway takes effect while the plan includes it; when it no longer does,
 * traffic goes to the providers directly and the settings are kept.
 */
@Injectable()
export class OrganizationGateways {
  // Organizations without a gateway are most of them, and remembered as well: hence the object around it.
  private readonly known: TtlCache<{ readonly gateway: OrganizationGateway | null }>;
  private readonly open: TtlCache<{ readonly gateway: OpenGateway | null }>;

  constructor(
    private readonly gateways: GatewayRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly vault: Vault,
    private readonly settings: Settings,
    clock: Clock,
    events: EventBus,
  ) {
    const options = { clock, ttlMs: CACHE_MS, maxEntries: CACHED_ORGANIZATIONS };
    this.known = new TtlCache(options);
    this.open = new TtlCache(options);
    events.subscribe(OrganizationGatewayChanged, ({ organizationId }) => {
      this.known.delete(organizationId);
      this.open.delete(organizationId);
    });
  }

  /** The gateway that agents of the organization route through unless they say otherwise, or null. */
  async effective(organizationId: string): Promise<OrganizationGateway | null> {
    const load = async (): Promise<{ gateway: OrganizationGateway | null }> => ({
      gateway: await this.gateways.find(organizationId),
    });
    const gateway = (await this.known.get(organizationId, load))?.gateway ?? null;
    return gateway && (await this.permitted(organizationId)) ? gateway : null;
  }

  /** The way to the provider that the organization's gateway prescribes; undefined for the direct one. */
  async routeOf(organizationId: string, provider: RoutedModel): Promise<ModelRoute | undefined> {
    if (!isRouted(provider.type, provider.model)) return undefined;
    const gateway = (await this.open.get(organizationId, () => this.unlock(organizationId)))?.gateway ?? null;
    return gateway ? this.through(organizationId, provider, gateway) : undefined;
  }

  /** The way through a gateway of an agent's own; undefined for the direct one. */
  async through(organizationId: string, provider: RoutedModel, gateway: OpenGateway): Promise<ModelRoute | undefined> {
    return (await this.permitted(organizationId)) ? routeThrough(gateway, provider, this.settings.gateway) : undefined;
  }

  /** Whether the plan includes the gateway. */
  async permitted(organizationId: string): Promise<boolean> {
    return (await this.organizations.find(organizationId))?.features.has('ai_gateway') ?? false;
  }

  /** @throws GatewayNotPermitted */
  async requirePermitted(organizationId: string): Promise<void> {
    if (!(await this.permitted(organizationId))) throw new GatewayNotPermitted();
  }

  /** Address and token together, so that a token never goes to the address of another time. */
  private async unlock(organizationId: string): Promise<{ gateway: OpenGateway | null }> {
    const gateway = await this.gateways.find(organizationId);
    if (!gateway) return { gateway: null };
    const { edgeAccountId, gatewayName } = gateway;
    return { gateway: { edgeAccountId, gatewayName, token: await this.vault.read(gatewayTokenOf(organizationId)) } };
  }
}
