import { Inject, Injectable } from '@nestjs/common';
import {
  type OfferedTool,
  type RunContext,
  type ToolResult,
  ToolSource,
} from '../../../../../src/conversations/index.js';
import { SafeHttp } from '../../../../../src/platform/egress/index.js';
import { Logger } from '../../../../../src/platform/telemetry/index.js';

/** Where the shop answers: `GET <url>/customers/{id}/orders/{number}` with `{"state": string}`. */
export const SHOP_URL = Symbol('SHOP_URL');

const DEFINITION = {
  name: 'order_status',
  description: 'Says where an order of the person in this conversation is. Orders of others cannot be asked for.',
  inputSchema: {
    type: 'object',
    properties: { number: { type: 'integer', description: 'The number of the order.' } },
    required: ['number'],
    additionalProperties: false,
  },
};

const ANSWER_MS = 5_000;
const ANSWER_BYTES = 65_536;

/** Tells the agent about the orders of the person it talks to. */
@Injectable()
export class OrderStatus extends ToolSource {
  constructor(
    private readonly http: SafeHttp,
    @Inject(SHOP_URL) private readonly shopUrl: string,
    private readonly logger: Logger,
  ) {
    super();
  }

  /** Nothing for a run that does not say who is asking. */
  offer({ userContext }: RunContext): Promise<readonly OfferedTool[]> {
    const customer = userContext?.['customerId'];
    if (typeof customer !== 'string') return Promise.resolve([]);
    const call: OfferedTool['call'] = ({ number }, signal) => this.look(customer, number, signal);
    return Promise.resolve([{ definition: DEFINITION, step: 'tool', effect: 'read_only', call }]);
  }

  /** A caller's own tool may not have this name. */
  override namesOf(): Promise<readonly string[]> {
    return Promise.resolve([DEFINITION.name]);
  }

  /** The customer comes from the caller's request and not from the model, whatever the model was talked into. */
  private async look(customer: string, number: unknown, signal: AbortSignal): Promise<ToolResult> {
    if (!Number.isSafeInteger(number)) return failed('The number of an order is a whole number.');
    const url = `${this.shopUrl}/customers/${encodeURIComponent(customer)}/orders/${String(number)}`;
    try {
      const limits = { maxBytes: ANSWER_BYTES, timeoutMs: ANSWER_MS, redirects: 'none', signal } as const;
      const { status, body } = await this.http.request(url, { purpose: 'mcp', ...limits });
      const text = await body.text();
      if (status === 404) return failed(`There is no order ${String(number)}.`);
      if (status !== 200) return failed('The shop cannot say now. Try later.');
      return { output: text, isError: false };
    } catch (error) {
      // The run was cancelled, so its answer is not read.
      signal.throwIfAborted();
      this.logger.warn({ err: error }, 'The shop did not answer');
      return failed('The shop cannot be reached. Try later.');
    }
  }
}

function failed(output: string): ToolResult {
  return { output, isError: true };
}
