import { Injectable, Logger } from '@nestjs/common';

/** Something that has happened, told in the past tense. Subclasses carry ids and plain values. */
export abstract class DomainEvent {
  /** Keeps unrelated event classes apart for the compiler; never set. */
  protected readonly eventBrand: undefined;
}

export type EventClass<Event extends DomainEvent> = abstract new (...parameters: never[]) => Event;

export type EventSubscriber<Event extends DomainEvent> = (event: Event) => void | Promise<void>;

/**
 * Tells this process, and it alone, what has happened: to drop a cached value, for one. Work that must not be
 * lost, or that another replica may do, goes through the outbox instead.
 */
@Injectable()
export class EventBus {
  private readonly logger = new Logger(EventBus.name);
  private readonly subscribers = new Map<EventClass<DomainEvent>, Set<EventSubscriber<DomainEvent>>>();

  /**
   * Calls the subscribers of the event's class, each on its own: one that throws or rejects is logged, and neither
   * the others nor the publisher notice. Synchronous subscribers have run when this returns; the promises of the
   * others are not awaited. Call it after the commit: a subscriber that looks must find what the event tells.
   */
  publish(event: DomainEvent): void {
    for (const subscriber of this.subscribers.get(event.constructor as EventClass<DomainEvent>) ?? []) {
      try {
        const pending = subscriber(event);
        if (pending)
          pending.catch((error: unknown) => {
            this.report(event, error);
          });
      } catch (error) {
        this.report(event, error);
      }
    }
  }

  /** Calls `subscriber` with every later event of exactly this class; the returned function ends that. */
  subscribe<Event extends DomainEvent>(eventClass: EventClass<Event>, subscriber: EventSubscriber<Event>): () => void {
    const subscribers = this.subscribers.get(eventClass) ?? new Set();
    // A key of its own per subscription, so that one function subscribed twice is called twice and ended singly.
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
