const names: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  gemfile: 'ruby',
  rakefile: 'ruby',
  '.bashrc': 'bash',
  '.env': 'properties',
}

/** The highlighter's name for a file, by its extension or its whole name; empty when there is none. */
export function languageOfPath(path: string): string {
  const name = (path.split(/[\\/]/).at(-1) ?? '').toLowerCase()
  return names[name] ?? /\.([a-z0-9]+)$/.exec(name)?.[1] ?? ''
}
