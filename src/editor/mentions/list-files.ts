/** Which files a folder has that a person works on: what Git knows or would add, else what is on disk and not ignored. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { runGit } from '../git.ts'

/** Files beyond this many are not listed; the list says so. */
const MAX_FILES = 200_000
/** UTF-16 units */
const MAX_OUTPUT = 40_000_000
/** Folders that no one writes in by hand, where no `.gitignore` says so. */
const NEVER = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store'])
const GIT_TIMEOUT_MS = 20_000

/** Paths relative to the root, with `/` between names. Rejects when the folder cannot be read at all. */
export async function listFiles(root: string, most = MAX_FILES): Promise<string[]> {
  return (await listWithGit(root, most)) ?? listOnDisk(root, most)
}

/** `undefined` where there is no Git, or the folder is in no repository. */
export async function listWithGit(root: string, most = MAX_FILES): Promise<string[] | undefined> {
  const args = ['ls-files', '-co', '--exclude-standard', '-z']
  const output = await runGit(root, args, { timeoutMs: GIT_TIMEOUT_MS, most: MAX_OUTPUT })
  if (!output) return undefined
  const names = output.text.split('\0')
  // the last name is empty, or was cut
  names.pop()
  // a repository inside of this one is named with a slash, and not what is in it
  const files = new Set(names.filter(name => !name.endsWith('/')))
  return [...files].slice(0, most)
}

interface Folder {
  /** relative to the root; empty for the root */
  path: string
  /** what ignores things in it: of this folder and those above, outermost first */
  rules: Array<{ at: string; rules: Ignore }>
}

export async function listOnDisk(root: string, most = MAX_FILES): Promise<string[]> {
  const files: string[] = []
  const folders: Folder[] = [{ path: '', rules: [] }]
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
      const name = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`
      if (isIgnored(entry.isDirectory() ? `${name}/` : name, rules)) continue
      if (entry.isDirectory()) folders.push({ path: name, rules })
      else if (entry.isFile()) files.push(name)
    }
  }
  return files
}

async function rulesIn(root: string, folder: Folder, own: boolean): Promise<Folder['rules']> {
  if (!own) return folder.rules
  const text = await readFile(path.join(root, folder.path, '.gitignore'), 'utf8').catch(() => '')
  return [...folder.rules, { at: folder.path, rules: ignore().add(text) }]
}

/** The innermost `.gitignore` that says something of a path decides. */
function isIgnored(name: string, rules: Folder['rules']): boolean {
  for (const { at, rules: own } of rules.toReversed()) {
    const { ignored, unignored } = own.test(at === '' ? name : name.slice(at.length + 1))
    if (ignored) return true
    if (unignored) return false
  }
  return false
}
