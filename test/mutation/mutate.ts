/**
 * Disables one handler in a bundle of esbuild's: renames its method, discriminator or capability wherever the section of
 * its file names it. A bundle has neither comments nor types, and all its strings in double quotes.
 * @param file of the handler, from the root of the project
 * @param name what the code of the file names the handler by
 * @returns `undefined` where the file isn't in the bundle, or doesn't name the handler
 */
export function disable(bundle: string, file: string, name: string): string | undefined {
  // The imports of a file stand between its parts.
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
    // A case is the handler itself; the same word elsewhere may be what it returns.
    replaced(`\\bcase "${word}":`, `case ${quoted}:`),
    replaced(`"${word}"`, quoted),
    replaced(`\\b${word}:`, '$disabled:'),
    replaced(`\\.${word}\\b`, '.$disabled'),
    replaced(`\\b${word}\\b(?=\\s*[,}])`, '$disabled: undefined'),
  ]
}
