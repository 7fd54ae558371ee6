import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Where programs are commonly put for one person; `~` is their home. In the order in which they are searched. */
const unixDirectories = [
  '~/.local/bin',
  '~/bin',
  '~/.volta/bin',
  '~/.local/share/fnm/aliases/default/bin',
  '~/Library/Application Support/fnm/aliases/default/bin',
  '~/.local/share/mise/shims',
  '~/.asdf/shims',
  '~/.npm-global/bin',
  '~/.local/share/pnpm',
  '~/Library/pnpm',
  '~/.bun/bin',
  '~/.deno/bin',
  '~/.cargo/bin',
  '~/.opencode/bin',
  '/opt/homebrew/bin',
  '/home/linuxbrew/.linuxbrew/bin',
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/snap/bin',
]

/**
 * The directories of that kind that exist, nvm's newest Node among them. They stand in for the PATH of a login shell
 * that could not be asked. Windows has none: there, every process gets the person's PATH.
 */
export async function commonBinDirectories(home: string, platform: NodeJS.Platform): Promise<string[]> {
  if (platform === 'win32') return []
  const candidates = unixDirectories.map(directory => directory.replace(/^~/, home))
  const node = await newestNvmNode(join(home, '.nvm/versions/node'))
  if (node !== undefined) candidates.unshift(join(node, 'bin'))
  const exist = await Promise.all(candidates.map(isDirectory))
  return candidates.filter((_, at) => exist[at])
}

async function newestNvmNode(directory: string): Promise<string | undefined> {
  let names: string[]
  try {
    names = await readdir(directory)
  } catch {
    return undefined
  }
  const versions = names
    .map(name => ({ name, match: /^v(\d+)\.(\d+)\.(\d+)$/.exec(name) }))
    .filter(version => version.match !== null)
    .sort((a, b) => {
      for (let part = 1; part <= 3; part++) {
        const difference = Number(b.match?.[part]) - Number(a.match?.[part])
        if (difference !== 0) return difference
      }
      return 0
    })
  return versions[0] && join(directory, versions[0].name)
}

export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
