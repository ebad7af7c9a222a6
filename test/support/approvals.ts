import type { OfferedTool } from '../../src/conversations/index.js';
import { during, output, tool } from './scripted-runs.js';
import type { TestService } from './harness.js';
import { answers } from './scripted-models.js';
import { type InterruptView, type ResumeEntry, type RunResult, Talk } from './talk.js';

/** Settings of an agent whose every call of a tool asks. */
export const ASKS_ALWAYS = { tools: { requireApprovalBeforeToolCalls: true } };
/** Settings of an agent that asks before something is changed. */
export const ASKS_FOR_CHANGES = { tools: { requireApprovalForResourceChanges: true } };

export function approve({ id }: Pick<InterruptView, 'id'>): ResumeEntry {
  return { interruptId: id, status: 'resolved', payload: { approved: true } };
}

export function decline({ id }: Pick<InterruptView, 'id'>, reason?: string): ResumeEntry {
  return {
    interruptId: id,
    status: 'resolved',
    payload: { approved: false, ...(reason === undefined ? {} : { reason }) },
  };
}

/** A tool that notes what it is called with. */
export class NotingTool {
  readonly inputs: object[] = [];
  readonly offered: OfferedTool;

  constructor(name: string, effect?: OfferedTool['effect']) {
    const call: OfferedTool['call'] = (input) => {
      this.inputs.push(input);
      return output(`${name} ${JSON.stringify(input)}`);
    };
    this.offered = tool(name, call, effect);
  }
}

/** A thread whose last run asks for approval of a payment of each sum. */
export async function askForPayments(
  service: TestService,
  sums: readonly number[],
  agent: Readonly<Record<string, unknown>> = ASKS_ALWAYS,
): Promise<{ talk: Talk; pay: NotingTool; asked: RunResult }> {
  const talk = await Talk.start(service, agent);
  const pay = new NotingTool('pay');
  during(talk.threadId, { tools: [pay.offered] });
  service.models.next(
    answers({ text: 'Shall I?', calls: sums.map((sum) => ({ id: `c${sum}`, name: 'pay', input: { sum } })) }),
  );
  const { body } = await talk.run('Pay');
  return { talk, pay, asked: body };
}
