import type { LanguageFn } from 'highlight.js'

/** The grammars included with Parley, each in a separate file that is loaded on demand. */
export const grammars: Readonly<Record<string, () => Promise<{ default: LanguageFn }>>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  dart: () => import('highlight.js/lib/languages/dart'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  elixir: () => import('highlight.js/lib/languages/elixir'),
  erlang: () => import('highlight.js/lib/languages/erlang'),
  fsharp: () => import('highlight.js/lib/languages/fsharp'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  groovy: () => import('highlight.js/lib/languages/groovy'),
  haskell: () => import('highlight.js/lib/languages/haskell'),
  http: () => import('highlight.js/lib/languages/http'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  julia: () => import('highlight.js/lib/languages/julia'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  latex: () => import('highlight.js/lib/languages/latex'),
  less: () => import('highlight.js/lib/languages/less'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  nix: () => import('highlight.js/lib/languages/nix'),
  objectivec: () => import('highlight.js/lib/languages/objectivec'),
  perl: () => import('highlight.js/lib/languages/perl'),
  php: () => import('highlight.js/lib/languages/php'),
  powershell: () => import('highlight.js/lib/languages/powershell'),
  properties: () => import('highlight.js/lib/languages/properties'),
  protobuf: () => import('highlight.js/lib/languages/protobuf'),
  python: () => import('highlight.js/lib/languages/python'),
  r: () => import('highlight.js/lib/languages/r'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scala: () => import('highlight.js/lib/languages/scala'),
  scss: () => import('highlight.js/lib/languages/scss'),
  shell: () => import('highlight.js/lib/languages/shell'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  vbnet: () => import('highlight.js/lib/languages/vbnet'),
  vim: () => import('highlight.js/lib/languages/vim'),
  wasm: () => import('highlight.js/lib/languages/wasm'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

/** By grammar: its other names in fences and file extensions. */
const aliases: Readonly<Record<string, string>> = {
  bash: 'sh zsh fish',
  c: 'h',
  cpp: 'cc c++ h++ hpp hh hxx cxx cuda ino',
  csharp: 'cs c# csx',
  diff: 'patch git-diff',
  dockerfile: 'docker containerfile',
  elixir: 'ex exs',
  erlang: 'erl',
  fsharp: 'fs f#',
  go: 'golang',
  graphql: 'gql',
  haskell: 'hs',
  http: 'https',
  ini: 'toml cfg conf',
  java: 'jsp',
  javascript: 'js jsx mjs cjs',
  json: 'jsonc json5 jsonl',
  kotlin: 'kt kts ktm ktx',
  latex: 'tex',
  lua: 'pluto',
  makefile: 'mk mak make',
  markdown: 'md mkdown mkd',
  nix: 'nixos',
  objectivec: 'mm objc obj-c obj-c++ objective-c++',
  perl: 'pl pm',
  powershell: 'pwsh ps ps1',
  properties: 'env dotenv',
  protobuf: 'proto',
  python: 'py gyp ipython python3',
  ruby: 'rb gemspec podspec thor irb',
  rust: 'rs',
  shell: 'console shellsession terminal',
  typescript: 'ts tsx mts cts mjsx',
  vbnet: 'vb',
  xml: 'html xhtml rss atom xjb xsd xsl plist wsf svg vue svelte',
  yaml: 'yml cff',
}

const byName = new Map<string, string>()
for (const name of Object.keys(grammars)) byName.set(name, name)
for (const [name, others] of Object.entries(aliases))
  for (const other of others.split(' ')) byName.set(other, name)

/** The grammar for a language's name or a file's extension. */
export function grammarOf(language: string): string | undefined {
  return byName.get(language.toLowerCase())
}

const names: ReadonlyMap<string, string> = new Map([
  ['dockerfile', 'dockerfile'],
  ['makefile', 'makefile'],
  ['gemfile', 'ruby'],
  ['rakefile', 'ruby'],
  ['.bashrc', 'bash'],
  ['.env', 'properties'],
])

/** The highlighter's name for a file, by its extension or its whole name; empty when there is none. */
export function languageOfPath(path: string): string {
  const name = (path.split(/[\\/]/).at(-1) ?? '').toLowerCase()
  return names.get(name) ?? /\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''
}
