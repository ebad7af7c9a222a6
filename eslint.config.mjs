import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { architectureRules } from './tools/eslint-architecture-rules.mjs';

const NODE_GLOBALS = Object.fromEntries(
  ['AbortController', 'AbortSignal', 'Buffer', 'URL', 'clearTimeout', 'fetch', 'process', 'setTimeout'].map((name) => [
    name,
    'readonly',
  ]),
);

export default defineConfig(
  globalIgnores(['dist/**', 'widget/dist/**', 'coverage/**', '.data/**', 'test/architecture/fixtures/**']),
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    name: 'habits',
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400, skipComments: true, skipBlankLines: true }],
      'max-lines-per-function': ['error', { max: 60, skipComments: true, skipBlankLines: true, IIFEs: true }],
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack'], location: 'anywhere' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // `import { type A } from` stays in the output as an import for its side effects; `import type` does not.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' },
      ],
      // A `default` may stand as a proof (`satisfies never`), never instead of a case.
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { allowDefaultCaseForExhaustiveSwitch: true, considerDefaultExhaustiveForUnions: false },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      // Nest's modules are classes that hold nothing but their decorator.
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      // Brackets say that the name is a key of data, which may be absent.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // SDKs declare as classes what they take as plain objects.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Lengths are counted in code points, which is what spreading a string gives.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      // An adapter of an asynchronous port may have nothing to wait for, and must reject rather than throw.
      '@typescript-eslint/require-await': 'off',
    },
  },
  { files: ['src/**/*.ts'], rules: { 'no-console': 'error' } },
  {
    name: 'older transport of the tool protocol',
    files: ['src/integrations/mcp/http-mcp-connector.ts'],
    rules: {
      // Servers that speak nothing else are still offered to customers.
      '@typescript-eslint/no-deprecated': [
        'error',
        { allow: [{ from: 'package', name: 'SSEClientTransport', package: '@modelcontextprotocol/client' }] },
      ],
    },
  },
  {
    name: 'conventions that move',
    files: ['src/observability/otlp/conventions.ts'],
    rules: {
      // The package marks all names of the GenAI conventions, whose document moved; it has no others.
      '@typescript-eslint/no-deprecated': 'off',
    },
  },
  {
    name: 'unions of others',
    files: ['src/models/providers/*/*.ts'],
    rules: {
      // A provider adds kinds of events at will; a runtime translates those it knows and lets the others pass.
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    name: 'tests and benchmarks',
    files: ['test/**/*.ts', 'bench/**/*.ts', '**/*.spec.ts'],
    rules: {
      // A `describe` is a function that holds a file's tests.
      'max-lines-per-function': 'off',
      'max-lines': ['error', { max: 500, skipComments: true, skipBlankLines: true }],
      // An answer's JSON is checked by what the test expects of it, not by its type.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: NODE_GLOBALS },
  },
  { files: ['**/*.cjs'], languageOptions: { globals: { module: 'writable' } } },
  ...architectureRules,
);
