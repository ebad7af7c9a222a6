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
  /** Besides what every process needs. Names are those of shell variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Exists, and is the child's alone: where it runs, its home and its place for temporary files. */
  readonly folder: string;
  /** How much it steps back for others, 0 (not at all) to 19. */
  readonly niceness?: number;
  /** Starts it on Windows too, where nothing but itself keeps it in bounds and ends it with its owner: its input ends then. */
  readonly boundsItself?: boolean;
}

/** The child cannot be started. */
export class ProcessNotStarted extends Error {}

/**
 * Starts other programs, each in a session of its own, limited in memory, processes and open files, and with nothing of
 * this process's environment but where programs are found. They end with this process, however it ends.
 */
@Injectable()
export class ChildProcesses {
  private readonly watch = new ProcessWatch();

  constructor(private readonly settings: Settings) {}

  /** A command that does not exist ends with the exit code 127, one that is no program with 126. @throws ProcessNotStarted */
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
      // What it writes to its standard error may hold secrets.
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      detached: true,
    });
  }

  /** What Windows itself needs in an environment is added by Node. */
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
