/** Lists the files that a user works on in a folder: the files that Git tracks or would add, else all files on disk that aren't ignored. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Ignore } from 'ignore'
import ignore from 'ignore'
import { GIT_MS } from '../common/limits.ts'
import { readBounded } from '../common/read-bounded.ts'
import { runGit } from './git.ts'

/** Maximum number of listed files. */
const MAX_FILES = 200_000
/** Maximum length of Git's output. UTF-16 units. */
const MAX_OUTPUT = 40_000_000
/** Maximum size of a `.gitignore` that is read. Bytes. */
const MAX_RULES_BYTES = 1_000_000
/** Number of names after which other work can run. */
const YIELD_AFTER = 500
/** Names that are never listed when the files are read from the disk. */
const NEVER = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store'])

/** Resolves to the paths relative to the root, with `/` between names. Rejects if the folder can't be read. */
export async function listFiles(root: string, most = MAX_FILES): Promise<string[]> {
  return (await listWithGit(root, most)) ?? listOnDisk(root, most)
}

/** Lists the files with Git. Resolves to `undefined` if Git is missing or the folder is outside of a repository. */
export async function listWithGit(root: string, most = MAX_FILES): Promise<string[] | undefined> {
  const args = ['ls-files', '-co', '--exclude-standard', '-z']
  const output = await runGit(root, args, { timeoutMs: GIT_MS, most: MAX_OUTPUT })
  if (!output) return undefined
  const names = output.text.split('\0')
  // the last name is empty or incomplete
  names.pop()
  // for a nested repository, Git lists its name with a slash instead of its content
  const files = new Set(names.filter(name => !name.endsWith('/')))
  return [...files].slice(0, most)
}

interface Folder {
  /** path relative to the root; empty for the root itself */
  path: string
  /** the `.gitignore` rules of this folder and of the folders above, outermost first */
  rules: Array<{ at: string; rules: Ignore }>
}

export interface ListOptions {
  /** whether to include links, which aren't followed */
  links?: boolean
  /** additional patterns to exclude, in the syntax of `.gitignore` */
  excluded?: readonly string[]
}

export async function listOnDisk(
  root: string,
  most = MAX_FILES,
  { links = false, excluded = [] }: ListOptions = {},
): Promise<string[]> {
  const files: string[] = []
  const always = ignore().add([...excluded])
  const folders: Folder[] = [{ path: '', rules: [] }]
  let visited = 0
  for (let next = folders.shift(); next && files.length < most; next = folders.shift()) {
    const folder = next
    const entries = await readdir(path.join(root, folder.path), { withFileTypes: true }).catch(error => {
      if (folder.path === '') throw error
      return []
    })
    const rules = await rulesIn(
      root,
      folder,
      entries.some(entry => entry.name === '.gitignore'),
    )
    for (const entry of entries) {
      if (NEVER.has(entry.name) || files.length >= most) continue
      if (++visited % YIELD_AFTER === 0) await setImmediate()
      const name = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`
      const asked = entry.isDirectory() ? `${name}/` : name
      if (always.ignores(asked) || isIgnored(asked, rules)) continue
      if (entry.isDirectory()) folders.push({ path: name, rules })
      else if (entry.isFile() || (links && entry.isSymbolicLink())) files.push(name)
    }
  }
  return files
}

async function rulesIn(root: string, folder: Folder, own: boolean): Promise<Folder['rules']> {
  if (!own) return folder.rules
  const file = path.join(root, folder.path, '.gitignore')
  const text = await readBounded(file, MAX_RULES_BYTES).catch(() => '')
  return [...folder.rules, { at: folder.path, rules: ignore().add(text) }]
}

/** Whether a path is ignored: the innermost `.gitignore` that matches the path decides. */
function isIgnored(name: string, rules: Folder['rules']): boolean {
  for (const { at, rules: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(at === '' ? name : name.slice(at.length + 1))
    if (ignored) return true
    if (unignored) return false
  }
  return false
}
