import { Global, Module } from '@nestjs/common';
import { EventBus } from './event-bus.js';
import { TransactionEvents } from './transaction-events.js';

@Global()
@Module({ providers: [EventBus, TransactionEvents], exports: [EventBus, TransactionEvents] })
export class EventsModule {}
