/**
 * How many letters were mistyped, left out, added or swapped with their neighbour.
 * @returns `max + 1` where there are more than `max`
 */
export function typingErrors(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const now = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let errors = Math.min((last[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) errors = Math.min(errors, (beforeLast[column - 2] ?? 0) + 1);
      now.push(errors);
    }
    if (Math.min(...now) > max) return max + 1;
    [beforeLast, last] = [last, now];
  }
  return Math.min(last[right.length] ?? 0, max + 1);
}
