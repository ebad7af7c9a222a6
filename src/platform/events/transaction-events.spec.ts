import { expect, it } from '@jest/globals';
import type { Transaction } from '../database/index.js';
import { DomainEvent } from './event-bus.js';
import { TransactionEvents } from './transaction-events.js';

class Moved extends DomainEvent {
  constructor(readonly to: string) {
    super();
  }
}
class Sold extends DomainEvent {}

const transaction = {} as Transaction;

it('awaits the subscribers of the class, with the transaction of the change', async () => {
  const events = new TransactionEvents();
  const seen: unknown[] = [];
  events.subscribe(Moved, async (within, { to }) => {
    await Promise.resolve();
    seen.push([within === transaction, to]);
  });
  events.subscribe(Sold, () => Promise.reject(new Error('not of this class')));
  await events.publish(transaction, new Moved('here'));
  expect(seen).toEqual([[true, 'here']]);
});

it('fails the transaction with the error of a subscriber', async () => {
  const events = new TransactionEvents();
  events.subscribe(Sold, () => Promise.reject(new Error('refused')));
  await expect(events.publish(transaction, new Sold())).rejects.toThrow('refused');
});
