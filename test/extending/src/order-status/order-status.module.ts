import { type DynamicModule, Module } from '@nestjs/common';
import { OrderStatus, SHOP_URL } from './application/order-status.tool-source.js';

@Module({})
export class OrderStatusModule {
  static forShop(url: string): DynamicModule {
    const providers = [OrderStatus, { provide: SHOP_URL, useValue: url }];
    return { module: OrderStatusModule, providers, exports: [OrderStatus] };
  }
}
