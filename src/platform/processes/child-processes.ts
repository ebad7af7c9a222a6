import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  async start({ command, args, env, folder }: ProcessCommand): Promise<ChildProcess> {
    if (process.platform === 'win32') throw new ProcessNotStarted('Local processes are not supported on Windows');
    const [shell, ...shellArgs] = limitedCommand(command, args);
    try {
      const child = spawn(shell, shellArgs, {
        cwd: folder,
        env: { LANG: 'C.UTF-8', PATH: this.settings.programPath, ...env, HOME: folder, TMPDIR: folder },
        // What it writes to its standard error may hold secrets.
        stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
        detached: true,
      });
      await once(child, 'spawn');
      return new ChildProcess(child as SpawnedProcess, this.watch);
    } catch (error) {
      throw new ProcessNotStarted('The process cannot be started', { cause: error });
    }
  }
}
