import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Hold, HoldResult, LoadOrder, LoadReply, Slice, SliceResult } from './load-orders.ts';
import type { Target } from './targets.ts';

/** The load process, one order at a time. */
export class LoadClient {
  private readonly child: ChildProcess;
  private readonly gone: Promise<never>;

  constructor(child: ChildProcess) {
    this.child = child;
    this.gone = once(child, 'exit').then(() => {
      throw new Error('The load process ended');
    });
    // Its end is expected when no order is under way.
    this.gone.catch(() => undefined);
  }

  async open(name: string, target: Target): Promise<void> {
    await this.order({ kind: 'open', name, target });
  }

  async slice(slice: Slice): Promise<SliceResult> {
    const reply = await this.order({ kind: 'slice', ...slice });
    if (reply.kind !== 'slice') throw new Error(`Unexpected reply ${reply.kind}`);
    return reply.result;
  }

  async hold(hold: Hold): Promise<HoldResult> {
    const reply = await this.order({ kind: 'hold', ...hold });
    if (reply.kind !== 'hold') throw new Error(`Unexpected reply ${reply.kind}`);
    return reply.result;
  }

  private async order(order: LoadOrder): Promise<LoadReply> {
    const replied = once(this.child, 'message');
    this.child.send(order);
    const [reply] = (await Promise.race([replied, this.gone])) as [LoadReply];
    if (reply.kind === 'failed') throw new Error(reply.message);
    return reply;
  }
}
