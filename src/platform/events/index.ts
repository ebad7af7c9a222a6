export { DomainEvent, EventBus, type EventClass, type EventSubscriber } from './event-bus.js';
export { EventsModule } from './events.module.js';
