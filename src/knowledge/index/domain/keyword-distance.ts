/** The number of letters that were mistyped, omitted, added or swapped with a neighbour; `max + 1` if there are more than `max`. */
export function typingErrors(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  const row = (): number[] => new Array<number>(right.length + 2).fill(max + 1);
  let [beforeLast, last, now] = [
    row(),
    Array.from({ length: right.length + 2 }, (_, column) => Math.min(column, max + 1)),
    row(),
  ];
  for (let at = 1; at <= left.length; at += 1) {
    // Cells further from the diagonal need more than `max` errors, so long words take as little time as short ones.
    const [first, end] = [Math.max(1, at - max), Math.min(right.length, at + max)];
    let least = (now[first - 1] = first === 1 ? Math.min(at, max + 1) : max + 1);
    for (let column = first; column <= end; column += 1) {
      const same = left[at - 1] === right[column - 1];
      let errors = Math.min(
        (last[column] ?? 0) + 1,
        (now[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        max + 1,
      );
      const swapped = at > 1 && column > 1 && left[at - 1] === right[column - 2] && left[at - 2] === right[column - 1];
      if (swapped) errors = Math.min(errors, (beforeLast[column - 2] ?? 0) + 1);
      now[column] = errors;
      least = Math.min(least, errors);
    }
    if (least > max) return max + 1;
    now[end + 1] = max + 1;
    [beforeLast, last, now] = [last, now, beforeLast];
  }
  return Math.min(last[right.length] ?? 0, max + 1);
}
