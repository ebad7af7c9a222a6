import { Global, Module } from '@nestjs/common';
import { EventBus } from './event-bus.js';

/** One bus for the whole process. */
@Global()
@Module({ providers: [EventBus], exports: [EventBus] })
export class EventsModule {}
