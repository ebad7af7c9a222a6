import { z } from 'zod';
import { messageOf } from '../errors/index.js';
import { UsageError } from './operator-command.js';

/** A connection carries one request and its answer, each as JSON that ends with its direction. */
export const operatorRequest = z.object({ line: z.array(z.string()) });

export type OperatorAnswer =
  | { readonly ok: true; readonly result: object }
  | { readonly ok: false; readonly usage: boolean; readonly message: string };

/** What a command came to. */
export async function answerOf(work: Promise<object>): Promise<OperatorAnswer> {
  try {
    return { ok: true, result: await work };
  } catch (error) {
    return { ok: false, usage: error instanceof UsageError, message: messageOf(error) };
  }
}
