import { ANY_INPUT, ModelFailure, type ModelRequest, type ToolDefinition } from '../../models/index.js';
import type { ToolSet } from './tool-set.js';

/** After so many refusals in a row the schemas of all tools are replaced. */
const MAX_REFUSALS_BY_NAME = 4;

/** The tools of a run whose schema the provider refuses. Requests have a plain object schema instead. */
export class SchemaFallbacks {
  private readonly names = new Set<string>();
  /** Tools whose source has been notified that the provider accepts the schema. */
  private readonly accepted = new Set<string>();
  /** How often in a row the provider has refused a request because of a schema. */
  private refusals = 0;

  definitions(tools: ToolSet): readonly ToolDefinition[] {
    return tools.definitions().map((definition) => {
      const { name } = definition;
      if (!this.names.has(name) && tools.find(name)?.schemaRefused !== true) return definition;
      this.names.add(name);
      return { ...definition, inputSchema: ANY_INPUT };
    });
  }

  /**
   * Replaces refused schemas in all further requests of the run. Providers name one tool at a time, so after a few
   * refusals in a row all schemas are replaced.
   * @returns whether a repeated request would have a different schema
   */
  refuse(error: unknown, request: ModelRequest, tools: ToolSet): boolean {
    const refusal = error instanceof ModelFailure ? error.facts.refusedSchemas : undefined;
    if (!refusal) return false;
    this.refusals += 1;
    const isNamed = refusal.tools.length > 0 && this.refusals < MAX_REFUSALS_BY_NAME;
    const refused = isNamed ? refusal.tools : request.tools.map(({ name }) => name);
    const replaced = refused.filter((name) => !this.names.has(name));
    for (const name of replaced) {
      this.names.add(name);
      tools.find(name)?.schemaJudged?.({ accepted: false, isNamed, reason: refusal.reason });
    }
    return replaced.length > 0;
  }

  /** Call when the provider has answered the request, and so has accepted its schemas. */
  accept(request: ModelRequest, tools: ToolSet): void {
    this.refusals = 0;
    for (const { name } of request.tools) {
      if (this.names.has(name) || this.accepted.has(name)) continue;
      this.accepted.add(name);
      tools.find(name)?.schemaJudged?.({ accepted: true });
    }
  }
}
