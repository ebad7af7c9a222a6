import { MAX_DEPTH, MAX_PROBLEMS, MAX_STEPS, SHOWN_NAME, SHOWN_PATH } from './limits.js';

/** A place in a document or a schema. The path is built only for a message. */
export interface Place {
  readonly parent: Place | null;
  readonly name: string | number;
}

/** What one keyword demands. @param place null where nothing is reported, such as within `not` */
export type Assertion = (check: Check, value: unknown, place: Place | null) => boolean;

/** A schema as its assertions. */
export interface CompiledSchema {
  readonly assertions: Assertion[];
}

/** The check takes more steps, or is nested more deeply, than is allowed. */
export class CheckTooLong extends Error {}

/** One check of a document. */
export class Check {
  readonly problems: string[] = [];
  private steps = MAX_STEPS;
  private depth = 0;

  holds({ assertions }: CompiledSchema, value: unknown, place: Place | null): boolean {
    this.depth += 1;
    this.spend(1);
    if (this.depth > MAX_DEPTH) throw new CheckTooLong();
    let holds = true;
    for (const assertion of assertions) {
      this.spend(1);
      if (assertion(this, value, place)) continue;
      holds = false;
      if (place === null || this.problems.length >= MAX_PROBLEMS) break;
    }
    this.depth -= 1;
    return holds;
  }

  /** @throws CheckTooLong */
  spend(steps: number): void {
    this.steps -= steps;
    if (this.steps < 0) throw new CheckTooLong();
  }

  get stepsLeft(): number {
    return this.steps;
  }

  /** @returns false, for the assertion that reports the problem */
  report(place: Place | null, problem: string): false {
    if (place !== null && this.problems.length < MAX_PROBLEMS) this.problems.push(`${pathOf(place)} ${problem}`.trim());
    return false;
  }
}

/** A JSON pointer, empty for the root. Long names and paths are cut. */
export function pathOf(place: Place): string {
  const names: string[] = [];
  let length = 0;
  for (let each: Place | null = place; each.parent !== null && length < SHOWN_PATH; each = each.parent) {
    const name = String(each.name);
    names.push(name.length > SHOWN_NAME ? `${name.slice(0, SHOWN_NAME)}...` : name);
    length += names.at(-1)?.length ?? 0;
  }
  return names
    .reverse()
    .map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
