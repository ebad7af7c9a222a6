export { DomainEvent, EventBus, type EventClass, type EventSubscriber } from './event-bus.js';
export { EventsModule } from './events.module.js';
export { TransactionEvents, type TransactionSubscriber } from './transaction-events.js';
