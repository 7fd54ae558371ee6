/**
 * Disables one handler in an esbuild bundle: renames its method, discriminator or capability wherever its file's
 * section contains it. A bundle has neither comments nor types, and all its strings are in double quotes.
 * @param file the handler's file, relative to the project
 * @param name the handler's name in that file
 * @returns `undefined` if the file isn't in the bundle or doesn't contain the name
 */
export function disable(bundle: string, file: string, name: string): string | undefined {
  // the parts of a file can be separated by its imports
  const parts = bundle.split(/^(?=\/\/ (?:src|test|node_modules)\/\S+$)/m)
  const isOfFile = (part: string) => part.startsWith(`// ${file}\n`)
  for (const rename of renames(name)) {
    const mutated = parts.map(part => (isOfFile(part) ? rename(part) : part)).join('')
    if (mutated !== bundle) return mutated
  }
  return undefined
}

const DISABLED = 'disabled by mutation'

function renames(name: string): Array<(code: string) => string> {
  const word = name.replace(/[$.*+?^{}()|[\]\\/]/g, '\\$&')
  const quoted = JSON.stringify(DISABLED)
  const replaced = (pattern: string, replacement: string) => (code: string) =>
    code.replace(new RegExp(pattern, 'g'), () => replacement)
  return [
    // A `case` is the handler itself. The same string elsewhere may be its result.
    replaced(`\\bcase "${word}":`, `case ${quoted}:`),
    replaced(`"${word}"`, quoted),
    replaced(`\\b${word}:`, '$disabled:'),
    replaced(`\\.${word}\\b`, '.$disabled'),
    replaced(`\\b${word}\\b(?=\\s*[,}])`, '$disabled: undefined'),
  ]
}
