import { MAX_FILE_BLOCKS, MAX_MAPPED_KIB, MAX_OPEN_FILES } from './limits.js';

/** The shell's descriptor that the owner holds open for as long as it lives. */
export const OWNER_DESCRIPTOR = 3;

/**
 * Sets the limits, where there are no lower ones or none of the kind, and becomes the command. A background process waits for the owner's descriptor to close, which the
 * kernel does however the owner ends, and then kills all of the session: the group's other members may have made groups
 * of their own. Without /proc it is the group alone.
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
