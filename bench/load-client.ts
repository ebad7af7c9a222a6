import type { ChildProcess } from 'node:child_process';
import type {
  Alternation,
  Follow,
  FollowResult,
  Hold,
  HoldResult,
  LoadOrder,
  LoadReply,
  Read,
  Recorded,
  Recording,
  Slice,
  SliceResult,
} from './load-orders.ts';
import { OrderedProcess } from './ordered-process.ts';
import type { Target } from './targets.ts';

/** Sends orders to the load process, one at a time. */
export class LoadClient {
  private readonly process: OrderedProcess<LoadOrder, LoadReply>;

  constructor(child: ChildProcess) {
    this.process = new OrderedProcess('load', child);
  }

  async open(name: string, target: Target): Promise<void> {
    await this.process.order({ kind: 'open', name, target }, 'opened');
  }

  async slice(slice: Slice): Promise<SliceResult> {
    return (await this.process.order({ kind: 'slice', ...slice }, 'slice')).result;
  }

  async alternate(alternation: Alternation): Promise<readonly (readonly number[])[]> {
    return (await this.process.order({ kind: 'alternate', ...alternation }, 'alternate')).result;
  }

  async hold(hold: Hold): Promise<HoldResult> {
    return (await this.process.order({ kind: 'hold', ...hold }, 'hold')).result;
  }

  async record(recording: Recording): Promise<Recorded> {
    return (await this.process.order({ kind: 'record', ...recording }, 'record')).result;
  }

  async read(read: Read): Promise<SliceResult> {
    return (await this.process.order({ kind: 'read', ...read }, 'slice')).result;
  }

  async follow(follow: Follow): Promise<FollowResult> {
    return (await this.process.order({ kind: 'follow', ...follow }, 'follow')).result;
  }
}
