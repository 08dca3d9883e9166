import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import globals from 'globals';

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      curly: ['error', 'multi-line'],
      eqeqeq: 'error',
      'max-lines': ['error', 350],
      'max-lines-per-function': ['error', { max: 50, skipComments: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'Program > VariableDeclaration[kind="let"]',
          message: 'Module level holds constants only.',
        },
      ],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['client/**', 'develop/browser/**'],
    languageOptions: { globals: { ...globals.browser, process: 'readonly' } },
  },
  {
    files: [
      'check/**',
      'convert/**',
      'develop/*.js',
      'develop/{checks,packages,runtime,updates}/**',
      'editor/**',
      'format/**',
      'render/**',
      'trial/**',
      'vite/**',
      'worker/**',
      'tests/**',
      '*.js',
    ],
    languageOptions: { globals: globals.node },
  },
  {
    // Text of visitors and of repositories that are only looked at: a search takes linear time.
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  { files: ['tests/**'], rules: { 'max-lines': 'off', 'max-lines-per-function': 'off' } },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs' } },
];
