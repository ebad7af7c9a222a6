import { isJsonObject, type JsonObject, type ToolChoice } from '../../models/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { validated } from '../../platform/http/index.js';
import type { RunRequest } from '../application/run-launcher.js';
import { ClientToolBody, MAX_CLIENT_TOOLS, readClientTools } from './client-tools.dto.js';
import type { RunOptions } from '../domain/run-options.js';

/** The fields of a chat completion about its tools, as the client sent them. */
export interface ToolFields {
  readonly tools?: readonly unknown[] | null;
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean | null;
}

interface Choice {
  /** The tools to offer; undefined for all of them. */
  readonly offered?: readonly string[];
  readonly toolChoice?: ToolChoice;
}

/** @throws ValidationFailed naming the field */
export function readTools(fields: ToolFields): Pick<RunRequest, 'options' | 'toolChoice'> {
  const { tools, tool_choice: sentChoice = null, parallel_tool_calls: parallel } = fields;
  const sent = (tools ?? []).length === 0 ? undefined : (tools ?? []);
  if (sent && sent.length > MAX_CLIENT_TOOLS) {
    throw new ValidationFailed(`body/tools must have at most ${MAX_CLIENT_TOOLS} elements`);
  }
  const all = sent && readClientTools(sent.map((tool, index) => readTool(tool, `body/tools/${index}`)));
  const { offered, toolChoice } = readChoice(sentChoice, new Set(all?.map(({ name }) => name)));
  const clientTools = offered ? (all ?? []).filter(({ name }) => offered.includes(name)) : all;
  const options: RunOptions = {
    ...(clientTools ? { clientTools } : {}),
    ...(parallel === false ? { oneCallAtATime: true } : {}),
  };
  return { options, ...(toolChoice ? { toolChoice } : {}) };
}

function readTool(tool: unknown, path: string): ClientToolBody {
  const { name, description, parameters } = functionIn(tool, path);
  const sent = {
    name,
    ...(description === undefined || description === null ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
  };
  return validated(ClientToolBody, sent, `${path}/function`);
}

function readChoice(choice: unknown, names: ReadonlySet<string>): Choice {
  const path = 'body/tool_choice';
  if (choice === null || choice === 'auto') return {};
  if (choice === 'none') return { offered: [] };
  if (names.size === 0) throw new ValidationFailed(`${path} must be auto or none where body/tools has no tools`);
  if (choice === 'required') return { toolChoice: { type: 'required' } };
  if (isJsonObject(choice) && choice['type'] === 'allowed_tools') return allowedTools(choice['allowed_tools'], names);
  if (isJsonObject(choice) && choice['type'] === 'function') {
    return { toolChoice: { type: 'tool', name: toolNamed(choice, path, names) } };
  }
  throw new ValidationFailed(
    `${path} must be auto, none, required, or an object of the type function or allowed_tools; other types are not accepted`,
  );
}

function allowedTools(allowed: unknown, names: ReadonlySet<string>): Choice {
  const path = 'body/tool_choice/allowed_tools';
  const { mode, tools } = isJsonObject(allowed) ? allowed : {};
  if (mode !== 'auto' && mode !== 'required') throw new ValidationFailed(`${path}/mode must be auto or required`);
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new ValidationFailed(`${path}/tools must be an array of at least 1 element`);
  }
  const offered = tools.map((tool: unknown, index) => toolNamed(tool, `${path}/tools/${index}`, names));
  return { offered, ...(mode === 'required' ? { toolChoice: { type: 'required' } } : {}) };
}

function toolNamed(tool: unknown, path: string, names: ReadonlySet<string>): string {
  const { name } = functionIn(tool, path);
  if (typeof name === 'string' && names.has(name)) return name;
  throw new ValidationFailed(`${path}/function/name must be the name of one of body/tools`);
}

function functionIn(tool: unknown, path: string): JsonObject {
  const { type, function: named } = isJsonObject(tool) ? tool : {};
  if (type !== 'function') throw new ValidationFailed(`${path}/type must be function: other tools are not accepted`);
  if (!isJsonObject(named)) throw new ValidationFailed(`${path}/function must be an object`);
  return named;
}
