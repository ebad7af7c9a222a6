import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** The reply of a child process to an order, or its error. */
export type Answer<Reply> = Reply | { readonly kind: 'failed'; readonly message: string };

/** A child process that executes one order at a time. */
export class OrderedProcess<Order extends object, Reply extends { readonly kind: string }> {
  private readonly child: ChildProcess;
  private readonly exited: Promise<never>;

  /** @param name of the process in errors */
  constructor(name: string, child: ChildProcess) {
    this.child = child;
    this.exited = once(child, 'exit').then(() => {
      throw new Error(`The ${name} process ended`);
    });
    // Without an active order, the end of the process is expected.
    this.exited.catch(() => undefined);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** @param expects the kind of reply to this order */
  async order<Kind extends Reply['kind']>(order: Order, expects: Kind): Promise<Extract<Reply, { kind: Kind }>> {
    const replied = once(this.child, 'message');
    this.child.send(order);
    const [answer] = (await Promise.race([replied, this.exited])) as [Answer<Reply>];
    if (answer.kind === 'failed') throw new Error((answer as { readonly message: string }).message);
    if (answer.kind !== expects) throw new Error(`Unexpected reply ${answer.kind}`);
    return answer as Extract<Reply, { kind: Kind }>;
  }
}

/** The side of the child, which ends with its parent. */
export function takeOrders(obey: (order: never) => Promise<{ readonly kind: string }>): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (order) => {
    obey(order as never).then(
      (reply) => process.send?.(reply),
      (error: unknown) => process.send?.({ kind: 'failed', message: String(error) } satisfies Answer<never>),
    );
  });
}
