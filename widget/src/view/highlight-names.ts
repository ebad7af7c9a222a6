/** The names under which the languages of `highlight.ts` are written after a fence. */
export const HIGHLIGHTED =
  /^(?:bash|sh|zsh|shell|console|c|h|cpp|c\+\+|cc|hpp|csharp|cs|c#|css|scss|diff|patch|dockerfile|docker|go|golang|graphql|gql|ini|toml|java|javascript|js|jsx|mjs|cjs|json|jsonc|kotlin|kt|lua|makefile|make|markdown|md|php|python|py|ruby|rb|rust|rs|sql|swift|typescript|ts|tsx|mts|cts|xml|html|svg|yaml|yml)$/i;
