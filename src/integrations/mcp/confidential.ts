import type { ToolResult } from '../../conversations/index.js';
import { ConfidentialTexts } from '../../platform/vault/index.js';
import type { ListedTool } from '../domain/tool-list.js';

/** What a tool server was sent and may repeat. */
export class Confidential extends ConfidentialTexts {
  /** Of a result's media nothing is looked at: they are pictures and sound. */
  leftOutOfResult<Result extends ToolResult>(result: Result): Result {
    return { ...result, output: this.leftOut(result.output) };
  }

  /** A tool that has a secret where nothing can be left out is no tool. */
  leftOutOfTool(tool: ListedTool): ListedTool | undefined {
    if (this.values.length === 0) return tool;
    if (this.isIn(tool.name) || this.isIn(JSON.stringify(tool.inputSchema))) return undefined;
    return { ...tool, description: this.leftOut(tool.description) };
  }
}
