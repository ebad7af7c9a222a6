import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DomainEvent, EventBus } from './index.js';

class KeyRevoked extends DomainEvent {
  constructor(readonly keyId: string) {
    super();
  }
}

class AgentChanged extends DomainEvent {
  constructor(readonly agentId: string) {
    super();
  }
}

describe('the event bus', () => {
  it('calls the subscribers of the event’s class, before it returns, and no others', () => {
    const bus = new EventBus();
    const heard: string[] = [];
    bus.subscribe(KeyRevoked, ({ keyId }) => void heard.push(`first ${keyId}`));
    bus.subscribe(KeyRevoked, ({ keyId }) => void heard.push(`second ${keyId}`));
    bus.subscribe(AgentChanged, ({ agentId }) => void heard.push(agentId));
    bus.publish(new KeyRevoked('k1'));
    expect(heard).toEqual(['first k1', 'second k1']);
  });

  it('ends one subscription without touching another of the same function', () => {
    const bus = new EventBus();
    let heard = 0;
    const count = (): void => {
      heard += 1;
    };
    const end = bus.subscribe(KeyRevoked, count);
    bus.subscribe(KeyRevoked, count);
    end();
    bus.publish(new KeyRevoked('k1'));
    expect(heard).toBe(1);
  });

  it('logs a failing subscriber and lets neither the publisher nor the others notice', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const bus = new EventBus();
    let heard = 0;
    bus.subscribe(KeyRevoked, () => {
      throw new Error('at once');
    });
    bus.subscribe(KeyRevoked, () => Promise.reject(new Error('later')));
    bus.subscribe(KeyRevoked, () => {
      heard += 1;
    });
    bus.publish(new KeyRevoked('k1'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toBe(1);
    expect(logged).toHaveBeenCalledTimes(2);
    logged.mockRestore();
  });
});
