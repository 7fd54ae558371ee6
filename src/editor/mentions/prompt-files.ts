import { open, opendir, stat } from 'node:fs/promises'
import path from 'node:path'
import { withTimeout } from '../../common/async.ts'
import { TYPED_PATH_MS } from '../../common/limits.ts'
import { PathRules } from '../path-rules.ts'
import { byteOrderMark, decodeText } from '../text.ts'
import { type ParsedPromptFile, parsePromptFile, visibleName } from './prompt-file-format.ts'
import { isInRoots } from './typed-path.ts'

/** A folder whose prompt files are offered. */
export interface PromptFolder {
  /** absolute */
  path: string
  /** the owner of the files: `user`, `workspace`, or the name of the root if there are several */
  source: 'user' | 'workspace' | { root: string }
  /** The folders that links may lead to: a file behind a link to another folder is read only after a question. */
  within: readonly string[]
}

export interface PromptFile {
  /** absolute */
  path: string
  folder: PromptFolder
  /** the name to type after the slash, if it's unique */
  name: string
  /** a prefix, followed by a colon, that distinguishes this file from others with the same name */
  qualifier: string
  /** Absent if a link leads to a file that may not be read without a question. */
  header?: Omit<ParsedPromptFile, 'name' | 'body'>
}

const EXTENSION = '.prompt.md'
const DEFAULT_FOLDER = '.github/prompts'
const rules = new PathRules()
/** Maximum number of entries of a folder that are read. */
const MAX_ENTRIES = 20_000
/** Maximum number of prompt files of a folder. */
const MAX_FILES = 500
/** Number of files that are read at the same time. */
const FILES_AT_ONCE = 16
/** Size of the start of a file, which contains its front matter. Bytes. */
const HEADER_BYTES = 16 * 1024

type Header = Omit<ParsedPromptFile, 'body'>
/** Headers by the files' paths. `version`: changes whenever the file changes. */
type KnownHeaders = Map<string, { version: string; header: Header }>

export interface PromptLocations {
  roots: ReadonlyArray<{ name: string; path: string }>
  /** VS Code's setting `chat.promptFilesLocations` in the user's and the workspace's settings, unchecked */
  set: Record<'user' | 'workspace', Record<string, unknown>>
  /** the folder of VS Code's default profile */
  userPrompts: string
  home: string
  /** Whether the workspace is trusted: in Restricted Mode, neither its files nor its settings are read. */
  isTrusted: boolean
}

/**
 * Returns the folders of each root, then the user's folders. Only the user's settings can choose folders anywhere on the disk; patterns
 * aren't supported.
 */
export function promptFolders({
  roots,
  set: { user, workspace },
  userPrompts,
  home,
  isTrusted,
}: PromptLocations): PromptFolder[] {
  const chosen: Record<string, unknown> = { [DEFAULT_FOLDER]: true, ...user, ...(isTrusted && workspace) }
  const wanted = Object.keys(chosen).filter(key => chosen[key] === true && !/[*?{}[\]]/.test(key))
  const within = roots.map(root => root.path)
  const ofRoots = (isTrusted ? roots : []).flatMap(({ name, path: root }) =>
    wanted
      .filter(key => !isAnywhere(key))
      .map(key => path.resolve(root, key))
      .filter(folder => rules.contains(root, folder))
      .map(folder => ({
        path: folder,
        source: roots.length > 1 ? { root: name } : ('workspace' as const),
        within,
      })),
  )
  const ofUser = wanted.filter(key => isAnywhere(key) && user[key] === true)
  const own = [userPrompts, ...ofUser.map(key => path.resolve(key.replace(/^~(?=[/\\])/, home)))]
  const all = [
    ...ofRoots,
    ...own.map(folder => ({ path: folder, source: 'user' as const, within: [folder] })),
  ]
  return all.filter((one, i) => all.findIndex(other => other.path === one.path) === i)
}

function isAnywhere(location: string): boolean {
  return path.isAbsolute(location) || /^~[/\\]/.test(location)
}

/** A running search. `found`: the files found so far, by folder. */
interface Search {
  wanted: string
  found: PromptFile[][]
  end: Promise<void>
}

/** Finds prompt files. The headers of files are cached until the files change. */
export class PromptFiles {
  #known: KnownHeaders = new Map()
  #search: Search | undefined

  /**
   * Finds prompt files, in the order of the folders, then by name. For folders that don't answer in time, resolves to the files found so
   * far.
   */
  async find(folders: readonly PromptFolder[], withinMs = TYPED_PATH_MS): Promise<PromptFile[]> {
    const wanted = JSON.stringify(folders)
    // a folder that doesn't answer blocks one of the few threads for files, so don't search there twice at the same time
    const search = this.#search?.wanted === wanted ? this.#search : this.#begin(folders, wanted)
    await withTimeout(search.end, withinMs)
    return distinct(search.found.flat())
  }

  #begin(folders: readonly PromptFolder[], wanted: string): Search {
    const found: PromptFile[][] = folders.map(() => [])
    const known: KnownHeaders = new Map()
    const find = async () => {
      await Promise.all(
        folders.map(async (folder, i) => {
          for await (const files of this.#filesOf(folder, known)) found[i]!.push(...files)
        }),
      )
      this.#known = known
    }
    const search: Search = { wanted, found, end: find() }
    this.#search = search
    void search.end.finally(() => {
      if (this.#search === search) this.#search = undefined
    })
    return search
  }

  async *#filesOf(folder: PromptFolder, known: KnownHeaders): AsyncGenerator<PromptFile[]> {
    const entries = await readEntries(folder.path)
    const isInside = entries.length > 0 && (await isInRoots(folder.path, folder.within))
    const look = async ({ name, isLink }: Entry) => {
      const file = path.join(folder.path, name)
      const mayRead = isInside && (!isLink || (await isInRoots(file, folder.within)))
      return this.#look(folder, name, mayRead, known)
    }
    for (let at = 0; at < entries.length; at += FILES_AT_ONCE) {
      const some = entries.slice(at, at + FILES_AT_ONCE)
      const files = await Promise.all(some.map(entry => look(entry).catch(() => undefined)))
      yield files.filter(file => file !== undefined)
    }
  }

  async #look(
    folder: PromptFolder,
    fileName: string,
    mayRead: boolean,
    known: KnownHeaders,
  ): Promise<PromptFile | undefined> {
    const file = path.join(folder.path, fileName)
    const info = await stat(file)
    if (!info.isFile()) return undefined
    const { source } = folder
    const qualifier = typeof source === 'string' ? source : visibleName(source.root)
    const fallback = visibleName(fileName.slice(0, -EXTENSION.length))
    if (!mayRead) return fallback ? { path: file, folder, name: fallback, qualifier } : undefined
    const version = `${info.mtimeMs} ${info.size} ${info.ino}`
    const before = this.#known.get(file)
    const read = before?.version === version ? before : { version, header: await readHeader(file) }
    known.set(file, read)
    const { name = fallback, ...header } = read.header
    return name ? { path: file, folder, name, qualifier, header } : undefined
  }
}

interface Entry {
  name: string
  isLink: boolean
}

/** Resolves to the prompt files in a folder, sorted by their names; empty if the folder can't be read. */
async function readEntries(folder: string): Promise<Entry[]> {
  const names: Entry[] = []
  try {
    let entries = 0
    for await (const entry of await opendir(folder, { bufferSize: 1000 })) {
      if (entry.name.toLowerCase().endsWith(EXTENSION) && !entry.isDirectory())
        names.push({ name: entry.name, isLink: entry.isSymbolicLink() })
      if (++entries >= MAX_ENTRIES) break
    }
  } catch {
    // the folder doesn't exist
  }
  return names.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, MAX_FILES)
}

async function readHeader(file: string): Promise<Header> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    const decoded = decodeText(wholeLines(buffer.subarray(0, bytesRead)))
    const { body: _, ...header } = parsePromptFile(typeof decoded === 'string' ? '' : decoded.text)
    return header
  } finally {
    await handle.close()
  }
}

/** Returns the start of a file without its last, incomplete line. */
function wholeLines(bytes: Buffer): Buffer {
  if (bytes.length < HEADER_BYTES) return bytes
  const mark = byteOrderMark(bytes)?.encoding
  // a line feed is two bytes in UTF-16
  const end = bytes.lastIndexOf(mark === 'utf16le' ? '\n\0' : mark === 'utf16be' ? '\0\n' : '\n')
  return end === -1 ? bytes : bytes.subarray(0, mark?.startsWith('utf16') ? end - (end % 2) : end)
}

/** Removes files that would have the same typed name as an earlier file. */
function distinct(files: readonly PromptFile[]): PromptFile[] {
  const taken = new Set<string>()
  return files.filter(({ qualifier, name }) => {
    const whole = `${qualifier}:${name}`
    const isNew = !taken.has(whole)
    taken.add(whole)
    return isNew
  })
}

/** Returns each file with its slash command: its name, with the qualifier if an agent's command or an earlier file has the same name. */
export function callNames(
  files: readonly PromptFile[],
  commands: readonly string[],
): Array<{ file: PromptFile; call: string }> {
  const taken = new Set(commands)
  return files.map(file => {
    const whole = `${file.qualifier}:${file.name}`
    const call = taken.has(file.name) ? whole : file.name
    taken.add(call)
    return { file, call }
  })
}

export interface PromptCall {
  file: PromptFile
  /** the typed text of the prompt's name, with the slash */
  typed: string
  /** length of the name in the text, with a colon after it */
  length: number
}

/**
 * Returns the prompt file that a text calls at its start: `/name`, `/name:` or `/user:name`. An agent's command with this name takes
 * precedence.
 */
export function calledFile(
  text: string,
  files: readonly PromptFile[],
  commands: readonly string[],
): PromptCall | undefined {
  const whole = /^\/(\S{1,300})(?=\s|$)/.exec(text)?.[1]
  if (whole === undefined || commands.includes(whole)) return undefined
  const typed = whole.replace(/:$/, '')
  if (commands.includes(typed)) return undefined
  const wanted = typed.normalize('NFC')
  const file =
    files.find(({ name }) => name === wanted) ??
    files.find(({ name, qualifier }) => `${qualifier}:${name}` === wanted)
  return file && { file, typed: `/${typed}`, length: whole.length + 1 }
}
