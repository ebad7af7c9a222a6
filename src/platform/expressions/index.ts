export { Expression, expressionCost, MAX_EXPRESSION_COST, RefusedExpression } from './expression.js';
