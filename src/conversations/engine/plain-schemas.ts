import { ANY_INPUT, ModelFailure, type ModelRequest, type ToolDefinition } from '../../models/index.js';
import type { OfferedTool } from '../ports/index.js';

/** From this refusal in a row on, every tool counts as refused. */
const REFUSALS_BY_NAME = 4;

/** The tools of a run that are offered with a plain object as their schema, because the provider refused the schema. */
export class PlainSchemas {
  private readonly names = new Set<string>();
  /** Tools whose source knows that the provider accepts the schema. */
  private readonly accepted = new Set<string>();
  /** How often in a row the provider refused the request because of a schema. */
  private refusals = 0;

  applied(
    definitions: readonly ToolDefinition[],
    find: (name: string) => OfferedTool | undefined,
  ): readonly ToolDefinition[] {
    return definitions.map((definition) => {
      const { name } = definition;
      if (!this.names.has(name) && find(name)?.schemaRefused !== true) return definition;
      this.names.add(name);
      return { ...definition, inputSchema: ANY_INPUT };
    });
  }

  /**
   * Replaces the schemas that the provider refused in all further requests of the run.
   * A provider names one tool at a time, so after a few refusals in a row every tool gets a plain object.
   * @returns whether to send the request once more: only when that changes a schema
   */
  refused(error: unknown, { tools }: ModelRequest, find: (name: string) => OfferedTool | undefined): boolean {
    const refusal = error instanceof ModelFailure ? error.facts.refusedSchemas : undefined;
    if (!refusal) return false;
    this.refusals += 1;
    const isNamed = refusal.tools.length > 0 && this.refusals < REFUSALS_BY_NAME;
    const meant = isNamed ? refusal.tools : tools.map(({ name }) => name);
    const plainer = meant.filter((name) => !this.names.has(name));
    for (const name of plainer) {
      this.names.add(name);
      find(name)?.schemaJudged?.({ accepted: false, isNamed, reason: refusal.reason });
    }
    return plainer.length > 0;
  }

  /** Call when the provider has answered the request, and so accepted its schemas. */
  taken({ tools }: ModelRequest, find: (name: string) => OfferedTool | undefined): void {
    this.refusals = 0;
    for (const { name } of tools) {
      if (this.names.has(name) || this.accepted.has(name)) continue;
      this.accepted.add(name);
      find(name)?.schemaJudged?.({ accepted: true });
    }
  }
}
