import { Injectable, Logger } from '@nestjs/common';

/** Something that has happened, named in the past tense. Subclasses have ids and plain values. */
export abstract class DomainEvent {
  /** Makes unrelated event classes incompatible for the compiler; never set. */
  protected readonly eventBrand: undefined;
}

export type EventClass<Event extends DomainEvent> = abstract new (...parameters: never[]) => Event;

export type EventSubscriber<Event extends DomainEvent> = (event: Event) => void | Promise<void>;

/**
 * Publishes events within this process, for example to invalidate a cache. Work that must not be lost, or that another replica may do,
 * goes through the outbox instead.
 */
@Injectable()
export class EventBus {
  private readonly logger = new Logger(EventBus.name);
  private readonly subscribers = new Map<EventClass<DomainEvent>, Set<EventSubscriber<DomainEvent>>>();

  /**
   * Calls the subscribers of the event's class. An error of one is logged, and affects neither the others nor the publisher. Synchronous
   * subscribers have run when this returns; promises are not awaited. Call it after the commit, so that subscribers read the new state.
   */
  publish(event: DomainEvent): void {
    for (const subscriber of this.subscribers.get(event.constructor as EventClass<DomainEvent>) ?? []) {
      try {
        subscriber(event)?.catch((error: unknown) => this.report(event, error));
      } catch (error) {
        this.report(event, error);
      }
    }
  }

  /** Calls `subscriber` with every later event of exactly this class, until the returned function is called. */
  subscribe<Event extends DomainEvent>(eventClass: EventClass<Event>, subscriber: EventSubscriber<Event>): () => void {
    const subscribers = this.subscribers.get(eventClass) ?? new Set();
    // A function for each subscription, so that a subscriber can subscribe twice and end each subscription separately.
    const entry: EventSubscriber<DomainEvent> = (event) => subscriber(event as Event);
    this.subscribers.set(eventClass, subscribers.add(entry));
    return () => {
      subscribers.delete(entry);
    };
  }

  private report(event: DomainEvent, error: unknown): void {
    this.logger.error(`A subscriber of ${event.constructor.name} failed`, error);
  }
}
