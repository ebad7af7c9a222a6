import type { RunExtensions } from '../../../../src/conversations/index.js';
import type { Context } from '../../../../src/platform/context/index.js';
import { OrderStatus } from './application/order-status.tool-source.js';
import { OrderStatusModule } from './order-status.module.js';

export const orderStatusContext = (shopUrl: string) =>
  ({
    name: 'order-status',
    modules: [OrderStatusModule.forShop(shopUrl)],
    runs: { toolSources: [OrderStatus] },
  }) satisfies Context<RunExtensions>;
