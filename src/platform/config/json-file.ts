import { readFileSync } from 'node:fs';
import { codeOf } from '../errors/index.js';
import { InvalidSetting } from './invalid-setting.js';

/** The content of a JSON file that a setting names. @throws InvalidSetting */
export function readJsonFile(setting: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // The parser's message quotes the file.
    const why = error instanceof SyntaxError ? 'is not JSON' : `cannot be read (${codeOf(error) ?? 'unknown error'})`;
    throw new InvalidSetting(`${setting}: the file ${JSON.stringify(path)} ${why}`);
  }
}
