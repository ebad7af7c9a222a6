import { ModelFailure, type ModelRequest, type SchemaRefusal, type ToolDefinition } from '../../models/index.js';
import type { OfferedTool } from '../ports/index.js';

const ANY_INPUT = { type: 'object', properties: {} } as const;

/** The tools of a run that are offered with a plain object in the place of a schema which the provider does not take. */
export class PlainSchemas {
  private readonly names = new Set<string>();
  /** Tools whose source has been told that their schema is taken. */
  private readonly accepted = new Set<string>();
  /** The model call that is made is the second one of a request. */
  private isAgain = false;

  applied(definitions: readonly ToolDefinition[], find: (name: string) => OfferedTool | undefined): readonly ToolDefinition[] {
    return definitions.map((definition) => {
      const { name } = definition;
      if (!this.names.has(name) && find(name)?.schemaRefused !== true) return definition;
      this.names.add(name);
      return { ...definition, inputSchema: ANY_INPUT };
    });
  }

  /**
   * Takes what the provider refuses for plain from now on.
   * @returns whether the request, which was sent once so far, is worth sending once more
   */
  refused(error: unknown, { tools }: ModelRequest, find: (name: string) => OfferedTool | undefined): boolean {
    const refusal = error instanceof ModelFailure ? error.facts.refusedSchemas : undefined;
    if (!refusal) return false;
    const meant = refusal.tools.length > 0 ? refusal.tools : tools.map(({ name }) => name);
    const plainer = meant.filter((name) => !this.names.has(name));
    for (const name of plainer) {
      this.names.add(name);
      find(name)?.schemaJudged?.(verdictOf(refusal));
    }
    const isWorthIt = plainer.length > 0 && !this.isAgain;
    this.isAgain = isWorthIt;
    return isWorthIt;
  }

  /** The provider has answered the request. */
  taken({ tools }: ModelRequest, find: (name: string) => OfferedTool | undefined): void {
    this.isAgain = false;
    for (const { name } of tools) {
      if (this.names.has(name) || this.accepted.has(name)) continue;
      this.accepted.add(name);
      find(name)?.schemaJudged?.({ accepted: true });
    }
  }
}

function verdictOf({ tools, reason }: SchemaRefusal): Parameters<NonNullable<OfferedTool['schemaJudged']>>[0] {
  return { accepted: false, isNamed: tools.length > 0, reason };
}
