/**
 * What code may use and still be proved to do nothing in a browser but what it did on the server.
 *
 * Each list names what is allowed, so that whatever the language, React or browsers gain later
 * counts as unknown. Left out on purpose is what differs between the server and browsers, or
 * between browsers: time, chance, languages, and functions whose last digits are not specified.
 */

/** Globals that are called or passed on as they are. */
export const FUNCTIONS = new Set([
  ...['Array', 'BigInt', 'Boolean', 'Number', 'String'],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent'],
  ...['isFinite', 'isNaN', 'parseFloat', 'parseInt'],
]);

/** Globals that are values. */
export const CONSTANTS = new Set(['undefined', 'NaN', 'Infinity']);

/** Globals that `new` may make something of, which is new each time. */
export const CONSTRUCTORS = new Set(['Array', 'Error', 'Map', 'Set', 'URLSearchParams']);

/** What may be read of globals, by the global. @type {Record<string, Set<string>>} */
const MEMBERS = {
  Array: new Set(['from', 'isArray', 'of']),
  JSON: new Set(['parse', 'stringify']),
  Math: new Set([
    ...['E', 'LN10', 'LN2', 'LOG10E', 'LOG2E', 'PI', 'SQRT1_2', 'SQRT2'],
    ...['abs', 'ceil', 'clz32', 'floor', 'fround', 'imul', 'max', 'min', 'round', 'sign', 'sqrt'],
    'trunc',
  ]),
  Number: new Set([
    ...['EPSILON', 'MAX_SAFE_INTEGER', 'MAX_VALUE', 'MIN_SAFE_INTEGER', 'MIN_VALUE', 'NaN'],
    ...['NEGATIVE_INFINITY', 'POSITIVE_INFINITY'],
    ...['isFinite', 'isInteger', 'isNaN', 'isSafeInteger', 'parseFloat', 'parseInt'],
  ]),
  Object: new Set(['entries', 'hasOwn', 'is', 'keys', 'values']),
  String: new Set(['fromCharCode', 'fromCodePoint']),
};

/**
 * Whether a key of a global may be read.
 *
 * @param {string} name
 * @param {string} key
 */
export function isReadable(name, key) {
  return Object.hasOwn(MEMBERS, name) && MEMBERS[name].has(key);
}

/** Methods that return true or false, whatever they are called on. */
export const TELLING = new Set(['endsWith', 'every', 'includes', 'some', 'startsWith']);

/** Of these, what returns something new. */
export const MAKERS = new Set(['entries', 'from', 'keys', 'of', 'values']);

/** What may be imported of React. @type {Set<string>} */
export const REACT = new Set([
  ...['Children', 'Fragment', 'StrictMode'],
  ...['createContext', 'isValidElement', 'memo', 'useContext', 'useId', 'useMemo'],
]);

/** What of these is no function. */
export const NO_FUNCTIONS = new Set(['Children', 'Fragment', 'StrictMode']);

/** What `fx/client` has that HTML alone can do. */
export const CLIENT = new Set([
  ...['Font', 'Head', 'Image', 'Island', 'Link', 'Slot', 'Toc', 'useContent'],
  ...['useData', 'useLayoutData', 'useParams', 'usePathname', 'useSearchParams'],
]);

/**
 * What `fx/client` has that changes only what scripts show: a call of its own where a module is
 * loaded does nothing in a page without scripts.
 */
export const SETTERS = new Set(['translateMessages']);

/** Components of these that pass their properties on to an element of HTML. */
export const PASSING_ON = new Set(['Image', 'Link']);

/** Properties of `import.meta.env` that are the same everywhere, besides the public ones. */
export const ENVIRONMENT = /^(FX_PUBLIC_\w+|BASE_URL|DEV|MODE|PROD)$/;

/** Names of properties that lead to what the lists above leave out. */
export const LEADING_OUT = new Set([
  ...['__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__', '__proto__'],
  ...['_currentValue', '_currentValue2', 'apply', 'arguments', 'assign', 'bind', 'call', 'callee'],
  ...['caller', 'constructor', 'create', 'defineProperties', 'defineProperty', 'freeze'],
  ...['fromAsync', 'getOwnPropertyDescriptor', 'getOwnPropertyDescriptors', 'getPrototypeOf'],
  ...['getOwnPropertyNames', 'getOwnPropertySymbols', 'groupBy', 'preventExtensions', 'prototype'],
  ...['seal', 'setPrototypeOf'],
  ...['localeCompare', 'stack', 'toLocaleDateString', 'toLocaleLowerCase', 'toLocaleString'],
  ...['toLocaleTimeString', 'toLocaleUpperCase'],
]);

/** Methods that change what they are called on. */
export const MUTATING = new Set([
  ...['add', 'append', 'clear', 'copyWithin', 'delete', 'fill', 'pop', 'push', 'reverse', 'set'],
  ...['next', 'return', 'shift', 'sort', 'splice', 'throw', 'unshift'],
]);

/** Methods that return an iterator, which is used up by its first reader. */
export const ITERATORS = new Set(['entries', 'keys', 'matchAll', 'values']);

/** Methods of arrays and strings that call a function, and have forgotten it when they return. */
export const CALLING = new Set([
  ...['every', 'filter', 'find', 'findIndex', 'findLast', 'findLastIndex', 'flatMap', 'forEach'],
  ...['map', 'reduce', 'reduceRight', 'replace', 'replaceAll', 'some', 'sort', 'toSorted'],
]);

/** Methods of arrays and strings that return an array of its own. */
export const COPYING = new Set([
  ...['concat', 'filter', 'flat', 'flatMap', 'map', 'slice', 'split'],
  ...['toReversed', 'toSorted', 'toSpliced', 'with'],
]);

/** All methods that may be called: what is no function of the application is one of the language. */
export const METHODS = new Set([
  ...[...MUTATING, ...ITERATORS, ...CALLING, ...COPYING],
  ...[
    'at',
    'charAt',
    'charCodeAt',
    'codePointAt',
    'difference',
    'endsWith',
    'exec',
    'get',
    'getAll',
  ],
  ...[
    'has',
    'hasOwnProperty',
    'includes',
    'indexOf',
    'intersection',
    'isDisjointFrom',
    'isSubsetOf',
  ],
  ...[
    'isSupersetOf',
    'isWellFormed',
    'join',
    'lastIndexOf',
    'match',
    'normalize',
    'padEnd',
    'padStart',
  ],
  ...[
    'repeat',
    'search',
    'startsWith',
    'substr',
    'substring',
    'symmetricDifference',
    'test',
    'toFixed',
  ],
  ...[
    'toExponential',
    'toLowerCase',
    'toPrecision',
    'toString',
    'toUpperCase',
    'toWellFormed',
    'trim',
  ],
  ...['trimEnd', 'trimStart', 'union', 'valueOf'],
]);

/** Syntax that is looked at; what is not on the list counts as unknown. */
export const SYNTAX = new Set([
  ...['Program', 'ImportDeclaration', 'ImportSpecifier', 'ImportDefaultSpecifier'],
  ...['ImportNamespaceSpecifier', 'ExportNamedDeclaration', 'ExportDefaultDeclaration'],
  ...['ExportSpecifier', 'ExportAllDeclaration'],
  ...['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'],
  ...['VariableDeclaration', 'VariableDeclarator', 'BlockStatement', 'EmptyStatement'],
  ...['ExpressionStatement', 'ReturnStatement', 'IfStatement', 'ForStatement', 'ForOfStatement'],
  ...['ForInStatement', 'WhileStatement', 'DoWhileStatement', 'SwitchStatement', 'SwitchCase'],
  ...['BreakStatement', 'ContinueStatement', 'LabeledStatement', 'ThrowStatement'],
  ...['Identifier', 'Literal', 'TemplateLiteral', 'TemplateElement', 'ArrayExpression'],
  ...['ObjectExpression', 'Property', 'SpreadElement', 'UnaryExpression', 'UpdateExpression'],
  ...['BinaryExpression', 'LogicalExpression', 'ConditionalExpression', 'AssignmentExpression'],
  ...['MemberExpression', 'ChainExpression', 'CallExpression', 'NewExpression'],
  ...['SequenceExpression', 'ParenthesizedExpression'],
  ...['ObjectPattern', 'ArrayPattern', 'RestElement', 'AssignmentPattern'],
  ...['JSXElement', 'JSXFragment', 'JSXOpeningElement', 'JSXClosingElement'],
  ...['JSXOpeningFragment', 'JSXClosingFragment', 'JSXAttribute', 'JSXSpreadAttribute'],
  ...['JSXIdentifier', 'JSXMemberExpression', 'JSXNamespacedName', 'JSXExpressionContainer'],
  ...['JSXEmptyExpression', 'JSXText', 'JSXSpreadChild'],
]);

/** What a kind of syntax is called in a reason. @type {Record<string, string>} */
export const SYNTAX_NAMES = {
  AwaitExpression: 'await',
  ClassDeclaration: 'a class',
  ClassExpression: 'a class',
  ImportExpression: 'import()',
  MetaProperty: 'import.meta',
  TaggedTemplateExpression: 'a tagged template',
  ThisExpression: 'this',
  TryStatement: 'try',
  YieldExpression: 'yield',
};

/** Names that an object of the application must not give to a function: it would be taken for the method. */
export const OF_ARRAYS = new Set([...COPYING, ...CALLING, ...MAKERS, ...TELLING]);
