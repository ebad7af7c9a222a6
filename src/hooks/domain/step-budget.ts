import type { JsonObject } from '../../models/index.js';
import { Expression, expressionCost, MAX_EXPRESSION_LENGTH } from './expression.js';

/** 5 to 17 ms on a slow core: a step is about one look at the keywords of a schema. */
const MAX_STEPS = 8_000;

/** What takes far less than a step. */
const CHARACTERS_COMPARED_PER_STEP = 1_000;
const CHARACTERS_COUNTED_PER_STEP = 50;
const KEYS_LISTED_PER_STEP = 4;
const EXPRESSION_STEPS_PER_STEP = 10;
/** Compiling an instruction takes some 3 µs. */
const STEPS_TO_COMPILE_ONE = 8;

/** Thrown where the steps of a call have been used up. */
export class BudgetExhausted extends Error {}

/**
 * What one call may take, in steps: everything whose length a stranger decides takes from it before it is done. The one thing whose length is known only
 * afterwards is the list of an object's keys; one that is too long for the rest ends the call.
 */
export class StepBudget {
  private steps = MAX_STEPS;
  private readonly keys = new Map<object, readonly string[]>();
  private readonly expressions = new Map<string, Expression | undefined>();

  /** @throws {BudgetExhausted} */
  take(steps: number): void {
    this.steps -= steps;
    if (this.steps < 0) throw new BudgetExhausted();
  }

  /** Its own, in their order. */
  keysOf(object: object): readonly string[] {
    const known = this.keys.get(object);
    if (known) return known;
    const keys = Object.keys(object);
    this.keys.set(object, keys);
    this.take(1 + keys.length / KEYS_LISTED_PER_STEP);
    return keys;
  }

  /** In code points, no further than is asked. */
  isLongerThan(text: string, length: number): boolean {
    if (text.length <= length) return false;
    if (text.length > 2 * length) return true;
    this.take(text.length / CHARACTERS_COUNTED_PER_STEP);
    let points = 0;
    for (let index = 0; index < text.length; index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1) points += 1;
    return points > length;
  }

  areEqual(left: unknown, right: unknown, depth: number): boolean {
    this.take(typeof left === 'string' ? 1 + left.length / CHARACTERS_COMPARED_PER_STEP : 1);
    if (left === right) return true;
    if (depth === 0) throw new BudgetExhausted();
    if (Array.isArray(left) && Array.isArray(right)) {
      return left.length === right.length && left.every((item, index) => this.areEqual(item, right[index], depth - 1));
    }
    if (!isObject(left) || !isObject(right)) return false;
    const keys = this.keysOf(left);
    return (
      keys.length === this.keysOf(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && this.areEqual(left[key], right[key], depth - 1))
    );
  }

  /** @returns undefined where it cannot be decided */
  isMatch(pattern: string, text: string): boolean | undefined {
    if (text.length > MAX_EXPRESSION_LENGTH) return undefined;
    this.take(1 + text.length / CHARACTERS_COUNTED_PER_STEP);
    if (UNLIKE_TEXT.test(text)) return undefined;
    const expression = this.expressionOf(pattern);
    if (!expression) return undefined;
    this.take(expression.stepsFor(text) / EXPRESSION_STEPS_PER_STEP);
    return expression.test(text);
  }

  private expressionOf(pattern: string): Expression | undefined {
    if (pattern.length > MAX_EXPRESSION_LENGTH) return undefined;
    if (!this.expressions.has(pattern)) this.expressions.set(pattern, this.compiled(pattern));
    return this.expressions.get(pattern);
  }

  private compiled(pattern: string): Expression | undefined {
    this.take(1 + pattern.length / CHARACTERS_COUNTED_PER_STEP);
    if (UNLIKE_PATTERN.test(pattern)) return undefined;
    this.take(expressionCost(pattern) * STEPS_TO_COMPILE_ONE);
    try {
      // What only one of the two dialects takes decides nothing.
      new RegExp(pattern, 'u');
      return Expression.compile(pattern);
    } catch {
      return undefined;
    }
  }
}

/** What JSON Schema's dialect, that of JavaScript, reads otherwise than RE2 does: `[]`, `[^]`, `[[:alpha:]]`, flags. */
const UNLIKE_PATTERN = /\[\^?\]|\[:|\(\?[^:<]/;

/** Characters that one of the dialects counts as white space or as the end of a line, and the other does not; halves of characters. */
const UNLIKE_TEXT = /[\v\r\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]|\p{Surrogate}/u;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
