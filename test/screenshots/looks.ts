import { type Theme, themes } from '../host/vscode-window.ts'

/** The themes for screenshots: the four that everything is checked in, and VS Code's colorful ones. */
export const looks: Record<string, Theme> = {
  ...themes,
  solarizedLight: { label: 'Solarized Light', className: 'vs' },
  solarizedDark: { label: 'Solarized Dark', className: 'vs-dark' },
  kimbie: { label: 'Kimbie Dark', className: 'vs-dark' },
  abyss: { label: 'Abyss', className: 'vs-dark' },
  red: { label: 'Red', className: 'vs-dark' },
  tomorrow: { label: 'Tomorrow Night Blue', className: 'vs-dark' },
  quietLight: { label: 'Quiet Light', className: 'vs' },
  monokai: { label: 'Monokai', className: 'vs-dark' },
}

/** The names in a comma-separated list, or the default four without a list. */
export function selectedLooks(names: string | undefined): string[] {
  if (!names) return Object.keys(themes)
  const all = names.split(',')
  for (const name of all)
    if (!(name in looks))
      throw new Error(`There is no theme ${name}; there are: ${Object.keys(looks).join(', ')}`)
  return all
}
