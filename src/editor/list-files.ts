/** Which files a folder has that a user works on: what Git knows or would add, else what is on disk and not ignored. */
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Ignore } from 'ignore'
import ignore from 'ignore'
import { GIT_MS } from '../common/limits.ts'
import { runGit } from './git.ts'

/** Files beyond this many are not listed; the list says so. */
const MAX_FILES = 200_000
/** UTF-16 units */
const MAX_OUTPUT = 40_000_000
/** After so many names everything else gets its turn. */
const YIELD_AFTER = 500
/** Folders that no one writes in by hand, where no `.gitignore` says so. */
const NEVER = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store'])

/** Paths relative to the root, with `/` between names. Rejects when the folder cannot be read at all. */
export async function listFiles(root: string, most = MAX_FILES): Promise<string[]> {
  return (await listWithGit(root, most)) ?? listOnDisk(root, most)
}

/** `undefined` where there is no Git, or the folder is in no repository. */
export async function listWithGit(root: string, most = MAX_FILES): Promise<string[] | undefined> {
  const args = ['ls-files', '-co', '--exclude-standard', '-z']
  const output = await runGit(root, args, { timeoutMs: GIT_MS, most: MAX_OUTPUT })
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

export interface ListOptions {
  /** links, too, which are not followed */
  links?: boolean
  /** what else is left out, as a `.gitignore` says it */
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
  let looked = 0
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
      if (++looked % YIELD_AFTER === 0) await setImmediate()
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
