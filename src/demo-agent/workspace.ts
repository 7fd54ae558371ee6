import fs from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Turn } from './turn.ts'

/** Patterns of file names for the tour, in order of preference. */
const FAVORITES = [/^readme(\.md|\.txt|\.rst)?$/i, /\.md$/i, /^package\.json$/i]
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'out', 'target', 'vendor', '__pycache__'])
const TEXT_EXTENSIONS =
  /\.(md|txt|rst|[cm]?[jt]sx?|json|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|ya?ml|toml|css|html|sql)$/i
const MAX_FILE_BYTES = 256 * 1024

/** Returns the text of a file, including unsaved changes in the editor if the client provides its file system. */
export async function readText(turn: Turn, file: string, limit?: number): Promise<string> {
  turn.check()
  if (!turn.features.readTextFile) {
    const content = await fs.readFile(file, 'utf8')
    return content.split('\n').slice(0, limit).join('\n')
  }
  const lines = limit === undefined ? {} : { line: 1, limit }
  const place = { sessionId: turn.session.id, path: file }
  return (await turn.request('fs/read_text_file', { ...place, ...lines })).content
}

export async function writeText(turn: Turn, file: string, content: string): Promise<void> {
  turn.check()
  if (turn.features.writeTextFile) {
    await turn.request('fs/write_text_file', { sessionId: turn.session.id, path: file, content })
  } else {
    await fs.mkdir(path.dirname(file), { recursive: true })
    await fs.writeFile(file, content)
  }
}

/** Returns the absolute path of a file that the user named; a relative path is searched for in each root. */
export async function locate(turn: Turn, name: string): Promise<string> {
  if (path.isAbsolute(name)) return path.normalize(name)
  const candidates = turn.session.roots.map(root => path.resolve(root, name))
  for (const candidate of candidates) if (await isFile(candidate)) return candidate
  return candidates[0] ?? path.resolve(name)
}

export function isInsideRoots(turn: Turn, file: string): boolean {
  return turn.session.roots.some(root => {
    const relative = path.relative(root, file)
    return (
      relative !== '' &&
      !relative.startsWith(`..${path.sep}`) &&
      relative !== '..' &&
      !path.isAbsolute(relative)
    )
  })
}

/** Returns the path relative to the working directory if the file is inside, else the absolute path. */
export function shortName(turn: Turn, file: string): string {
  const relative = path.relative(turn.session.cwd, file)
  return relative === '' || relative.startsWith('..') ? file : relative
}

/** Returns the file for a turn: a file that the user attached or named, else a suitable one. */
export async function subjectFile(turn: Turn, words: string): Promise<string | undefined> {
  for (const block of turn.prompt) {
    const uri =
      block.type === 'resource_link' ? block.uri : block.type === 'resource' ? block.resource.uri : ''
    const file = fromUri(uri)
    if (file && (await isFile(file)) && isInsideRoots(turn, file)) return file
  }
  for (const word of words.match(/[^\s"'`,;:()]+\.[\p{L}\p{N}]+/gu) ?? []) {
    const file = await locate(turn, word)
    if ((await isFile(file)) && isInsideRoots(turn, file)) return file
  }
  return findShowable(turn.session.roots)
}

/** Returns the name of the file or other resource at a URI. */
export function nameIn(uri: string): string {
  return path.basename(fromUri(uri) ?? uri)
}

function fromUri(uri: string): string | undefined {
  try {
    const url = new URL(uri)
    url.hash = ''
    return url.protocol === 'file:' ? fileURLToPath(url) : undefined
  } catch {
    return undefined
  }
}

async function isFile(file: string): Promise<boolean> {
  return fs.stat(file).then(
    stats => stats.isFile(),
    () => false,
  )
}

/** Returns a file for the tour. Searches only the roots and their direct subfolders, since a tour must not walk a whole disk. */
async function findShowable(roots: string[]): Promise<string | undefined> {
  const files: string[] = []
  for (const root of roots) files.push(...(await textFiles(root, 1)))
  for (const favorite of FAVORITES) {
    const found = files.find(file => favorite.test(path.basename(file)))
    if (found) return found
  }
  return files[0]
}

async function textFiles(directory: string, depth: number): Promise<string[]> {
  const entries = await fs.readdir(directory, { withFileTypes: true }).catch(() => [])
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const files: string[] = []
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue
    const full = path.join(directory, entry.name)
    if (entry.isFile() && TEXT_EXTENSIONS.test(entry.name)) {
      const { size } = await fs.stat(full).catch(() => ({ size: MAX_FILE_BYTES + 1 }))
      if (size > 0 && size <= MAX_FILE_BYTES) files.push(full)
    } else if (entry.isDirectory() && depth > 0 && !SKIPPED.has(entry.name)) {
      files.push(...(await textFiles(full, depth - 1)))
    }
  }
  return files
}
