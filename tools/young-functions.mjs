import { parse } from 'acorn';
import { ancestor } from 'acorn-walk';

/** Most files have no such assignment, and need not be parsed. */
const MAYBE = /[\w$\])]\s*=\s*\(*\s*(?:async\b\s*)?(?:function\b|\(|[\w$]+\s*=>)/;
/** Packages that are not ES modules are parsed too. */
const OPTIONS = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  allowHashBang: true,
  allowImportExportEverywhere: true,
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
};

/**
 * Wraps each function that is assigned to a property as an operand of a comma, `object.property = (0, () => 1)`, in code that runs
 * more than once.
 *
 * V8 takes a function that is assigned to a property for a method that stays, and creates it in the old generation. There it remains,
 * with all that it refers to, until V8 collects the whole heap. Drivers do so for each query and each command: most of what a run
 * left behind was kept by such functions.
 *
 * @param code of a file of JavaScript
 * @returns the code with the same lines
 * @throws SyntaxError
 */
export function keepFunctionsYoung(code) {
  if (!MAYBE.test(code)) return code;
  const edits = [];
  ancestor(parse(code, OPTIONS), {
    AssignmentExpression({ operator, left, right }, _, ancestors) {
      if (operator !== '=' || left.type !== 'MemberExpression' || !isFunction(right)) return;
      if (ancestors.some(isFunction)) edits.push([right.start, '(0,'], [right.end, ')']);
    },
  });
  edits.sort(([one], [other]) => one - other);
  const pieces = edits.map(([at, text], index) => code.slice(edits[index - 1]?.[0] ?? 0, at) + text);
  return pieces.join('') + code.slice(edits.at(-1)?.[0] ?? 0);
}

function isFunction({ type }) {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(type);
}
