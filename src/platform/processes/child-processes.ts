import { type ChildProcess as NodeChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/index.js';
import { ChildProcess, type SpawnedProcess } from './child-process.js';
import { limitedCommand } from './limited-command.js';
import { ProcessWatch } from './process-watch.js';

export interface ProcessCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Additional variables. Names are those of shell variables. */
  readonly env: Readonly<Record<string, string>>;
  /** An existing folder of the child alone: its working directory, home and folder for temporary files. */
  readonly folder: string;
  /** Its niceness, from 0 (normal) to 19 (the lowest priority). */
  readonly niceness?: number;
  /** Starts it on Windows too, where it must itself keep the limits and end when its input ends, with its owner. */
  readonly boundsItself?: boolean;
}

export class ProcessNotStarted extends Error {}

/**
 * Starts programs, each in its own session, with limits of memory, processes and open files, and with only `PATH` of this
 * process's environment. They end with this process, also if it is killed.
 */
@Injectable()
export class ChildProcesses {
  private readonly watch = new ProcessWatch();

  constructor(private readonly settings: Settings) {}

  /** A missing command ends with the exit code 127, one that is not executable with 126. @throws ProcessNotStarted */
  async start(command: ProcessCommand): Promise<ChildProcess> {
    const child = this.spawn(command);
    try {
      await once(child, 'spawn');
    } catch (error) {
      throw notStarted(error);
    }
    return this.watched(child);
  }

  /** As `start`, for callers that cannot wait. @throws ProcessNotStarted */
  startNow(command: ProcessCommand): ChildProcess {
    const child = this.spawn(command);
    let failure: unknown;
    child.once('error', (error) => (failure = error));
    if (child.pid === undefined) throw notStarted(failure);
    return this.watched(child);
  }

  private watched(child: NodeChildProcess): ChildProcess {
    return new ChildProcess(child as SpawnedProcess, this.watch);
  }

  private spawn(command: ProcessCommand): NodeChildProcess {
    const isWindows = process.platform === 'win32';
    if (isWindows && command.boundsItself !== true)
      throw new ProcessNotStarted('Local processes are not supported on Windows');
    try {
      return isWindows ? this.spawnPlain(command) : this.spawnLimited(command);
    } catch (error) {
      throw notStarted(error);
    }
  }

  private spawnLimited({ command, args, env, folder, niceness = 0 }: ProcessCommand): NodeChildProcess {
    const nice = niceness === 0 ? [command, ...args] : ['nice', '-n', String(niceness), command, ...args];
    const [first = command, ...others] = nice;
    const [shell, ...shellArgs] = limitedCommand(first, others);
    return spawn(shell, shellArgs, {
      cwd: folder,
      env: { LANG: 'C.UTF-8', PATH: this.settings.programPath, ...env, HOME: folder, TMPDIR: folder },
      // Its standard error may contain secrets.
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      detached: true,
    });
  }

  /** Node adds the variables that Windows needs. */
  private spawnPlain({ command, args, env, folder, niceness = 0 }: ProcessCommand): NodeChildProcess {
    const child = spawn(command, args, {
      cwd: folder,
      env: { PATH: this.settings.programPath, ...env },
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    if (niceness > 0 && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    return child;
  }
}

function notStarted(cause: unknown): ProcessNotStarted {
  return new ProcessNotStarted('The process cannot be started', { cause });
}
