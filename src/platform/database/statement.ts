/** One SQL statement with its own parameters, numbered from `$1`. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** The statement's text with its parameters numbered after `count` others, to be a part of a larger one. */
export function numberedAfter(sql: string, count: number): string {
  return sql.replace(/\$(\d+)/g, (_parameter, number: string) => `$${Number(number) + count}`);
}
