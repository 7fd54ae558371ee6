import type { LanguageFn } from 'highlight.js'

type Grammars = Record<string, LanguageFn>
const small = (): Promise<Grammars> => import('./grammars/small.ts')
const styles = (): Promise<Grammars> => import('./grammars/styles.ts')
const scripts = (): Promise<Grammars> => import('./grammars/scripts.ts')

/** The bundled grammars, in files that are loaded on demand: small or similar grammars share a file. */
const files: Readonly<Record<string, () => Promise<Grammars>>> = {
  bash: small,
  c: small,
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: small,
  css: styles,
  dart: small,
  diff: small,
  dockerfile: small,
  elixir: small,
  erlang: small,
  fsharp: small,
  go: small,
  graphql: small,
  groovy: small,
  haskell: small,
  http: small,
  ini: small,
  java: small,
  javascript: scripts,
  json: small,
  julia: small,
  kotlin: small,
  latex: small,
  less: styles,
  lua: small,
  makefile: small,
  markdown: small,
  nix: small,
  objectivec: small,
  perl: small,
  php: () => import('highlight.js/lib/languages/php'),
  powershell: small,
  properties: small,
  protobuf: small,
  python: small,
  r: small,
  ruby: small,
  rust: small,
  scala: small,
  scss: styles,
  shell: small,
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: scripts,
  vbnet: small,
  vim: () => import('highlight.js/lib/languages/vim'),
  wasm: small,
  xml: small,
  yaml: small,
}

export const grammarNames: readonly string[] = Object.keys(files)

export async function loadGrammar(name: string): Promise<LanguageFn> {
  const grammars = await files[name]!()
  return grammars[name] ?? grammars.default!
}

/** By grammar: its other names in fences, and its file extensions. */
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
for (const name of grammarNames) byName.set(name, name)
for (const [name, others] of Object.entries(aliases))
  for (const other of others.split(' ')) byName.set(other, name)

/** Returns the grammar for a language's name or a file's extension. */
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

/** Returns the highlighter's language name for a file, by the file's whole name or its extension; empty if there is none. */
export function languageOfPath(path: string): string {
  const name = (path.split(/[\\/]/).at(-1) ?? '').toLowerCase()
  return names.get(name) ?? /\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''
}
