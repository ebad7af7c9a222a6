import { messageOf } from '../errors/index.js';
import { UsageError } from '../command-line/index.js';

export type OperatorAnswer =
  | { readonly ok: true; readonly result: object }
  | { readonly ok: false; readonly usage: boolean; readonly message: string };

/** The result or the error of a command, for the command line. */
export async function answerOf(work: Promise<object>): Promise<OperatorAnswer> {
  try {
    return { ok: true, result: await work };
  } catch (error) {
    return refusal(error);
  }
}

export function refusal(error: unknown): OperatorAnswer {
  return { ok: false, usage: error instanceof UsageError, message: messageOf(error) };
}
