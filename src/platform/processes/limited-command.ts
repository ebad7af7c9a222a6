import { MAX_FILE_BLOCKS, MAX_MAPPED_KIB, MAX_OPEN_FILES } from './limits.js';

/** The shell's descriptor that the owner keeps open until it ends. */
export const OWNER_DESCRIPTOR = 3;

/**
 * Sets the limits, unless there are lower ones or the system lacks them, and then executes the command. A background process waits
 * until the owner's descriptor is closed, which the kernel does when the owner ends in any way, and then kills all of the session,
 * because its members may have created their own groups. Without /proc it kills only the group.
 */
const SCRIPT = `
ulimit -c 0 2>/dev/null
ulimit -n "$1" 2>/dev/null
ulimit -d "$2" 2>/dev/null
ulimit -f "$3" 2>/dev/null
shift 3
(
  exec </dev/null >/dev/null 2>&1
  read -r _ <&${OWNER_DESCRIPTOR}
  read -r self _ </proc/self/stat
  for file in /proc/[0-9]*/stat; do
    read -r stat <"$file" || continue
    set -- \${stat##*) }
    pid=\${file#/proc/}
    pid=\${pid%/stat}
    [ "$4" = $$ ] && [ "$pid" != "$self" ] && kill -KILL "$pid"
  done
  kill -KILL -$$
) &
exec ${OWNER_DESCRIPTOR}<&-
exec "$@"
`;

/** The shell and its arguments that run a command within the limits. */
export function limitedCommand(command: string, args: readonly string[]): readonly [string, ...string[]] {
  const limits = [MAX_OPEN_FILES, MAX_MAPPED_KIB, MAX_FILE_BLOCKS].map(String);
  return ['/bin/sh', '-c', SCRIPT, 'sh', ...limits, command, ...args];
}
