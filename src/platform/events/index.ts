export { DomainEvent, EventBus, type EventClass, EventsModule, type EventSubscriber } from './event-bus.js';
