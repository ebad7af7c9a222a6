import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/index.js';
import type { DomainEvent, EventClass } from './event-bus.js';

export type TransactionSubscriber<Event extends DomainEvent> = (
  transaction: Transaction,
  event: Event,
) => Promise<void>;

/**
 * Tells other contexts of a change within its transaction, so that what they store about it is committed with the change or not at
 * all. Unlike `EventBus`, which reaches only this process and may be missed.
 */
@Injectable()
export class TransactionEvents {
  private readonly subscribers = new Map<EventClass<DomainEvent>, TransactionSubscriber<DomainEvent>[]>();

  /** Awaits the subscribers of exactly this class. An error of one fails the caller's transaction. */
  async publish(transaction: Transaction, event: DomainEvent): Promise<void> {
    const subscribers = this.subscribers.get(event.constructor as EventClass<DomainEvent>) ?? [];
    for (const subscriber of subscribers) await subscriber(transaction, event);
  }

  /** For constructors: the subscription lasts as long as the process. The subscriber awaits nothing but its own statements. */
  subscribe<Event extends DomainEvent>(eventClass: EventClass<Event>, subscriber: TransactionSubscriber<Event>): void {
    const present = this.subscribers.get(eventClass) ?? [];
    this.subscribers.set(eventClass, [...present, (transaction, event) => subscriber(transaction, event as Event)]);
  }
}
