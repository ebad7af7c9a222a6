import { ModelFailure, type ModelRequest, type SchemaRefusal, type ToolDefinition } from '../../models/index.js';
import type { OfferedTool } from '../ports/index.js';

const ANY_INPUT = { type: 'object', properties: {} } as const;

/** The tools of a run that are offered with a plain object as their schema, because the provider refused the schema. */
export class PlainSchemas {
  private readonly names = new Set<string>();
  /** Tools whose source knows that the provider accepts the schema. */
  private readonly accepted = new Set<string>();
  /** The current model call repeats a refused request. */
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
   * Replaces the schemas that the provider refused in all further requests of the run.
   * @returns whether to send the request once more: only when a schema changes, and when it is not a repetition already
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

  /** Call when the provider has answered the request, and so accepted its schemas. */
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
