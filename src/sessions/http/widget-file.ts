import { builtFile } from '../../platform/files/index.js';

/** The browser widget as the build has made it. */
export interface WidgetFile {
  readonly script: string;
  /** Of the widget's package; it is the name of the file that never changes. */
  readonly version: string;
}

const FILE = 'widget/agent-chat.js';
const BANNER = /^\/\* agent-chat (\d+\.\d+\.\d+[\w.-]*) \*\//;

let read: WidgetFile | undefined;

/** @throws Error when it has not been built */
export function widgetFile(): WidgetFile {
  if (!read) {
    const script = builtFile(FILE);
    const version = BANNER.exec(script)?.[1];
    if (version === undefined) throw new Error(`${FILE} does not begin with its version`);
    read = { script, version };
  }
  return read;
}
