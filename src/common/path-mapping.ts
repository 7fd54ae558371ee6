import { posix, win32 } from 'node:path'
import { foldsCase, hostPlatform } from './platform.ts'

/** A folder of this machine, and the path at which an agent on another machine has it. Both are absolute. */
export interface PathMapping {
  localRoot: string
  remoteRoot: string
}

/** How a machine writes paths. */
interface Flavor {
  path: typeof posix
  isWindows: boolean
  folds: boolean
}

interface Place {
  /** a drive or a share on Windows; otherwise empty */
  head: string
  names: string[]
}

type Root = Place & { flavor: Flavor }
type Side = 'local' | 'remote'
type Pair = Record<Side, Root>

const POSIX: Flavor = { path: posix, isWindows: false, folds: false }
const WINDOWS: Flavor = { path: win32, isWindows: true, folds: true }

/** The prefix for a path of one machine that the other machine would take for a mapped path. No file's path begins like this. */
const ELSEWHERE = '/elsewhere:'
const ELSEWHERE_URI = 'file:///elsewhere:'

/**
 * Translates paths in folders that both this machine and an agent's machine have. Any other path stays as it is, with a prefix if the other
 * machine would take it for a mapped path; the translation back removes the prefix. If several roots contain a path, the longest one
 * counts. Names are compared one by one after `..` is resolved: neither `/srv/app2` nor `/srv/app/../x` is in `/srv/app`.
 */
export class PathMapper {
  readonly #pairs: readonly Pair[]
  readonly #local: Flavor

  constructor(mappings: readonly PathMapping[], platform: NodeJS.Platform = hostPlatform) {
    const local = platform === 'win32' ? WINDOWS : { ...POSIX, folds: foldsCase(platform) }
    this.#local = local
    this.#pairs = mappings.flatMap(({ localRoot, remoteRoot }) => {
      const here = rootOf(localRoot, local)
      const there = rootOf(remoteRoot, flavorOf(remoteRoot))
      return here && there ? { local: here, remote: there } : []
    })
  }

  /** Translates a path or `file:` URI that the agent wrote to this machine. */
  toLocal(text: string): string {
    return this.#translate(text, 'remote', 'local')
  }

  /** Translates a path or `file:` URI of this machine to the agent's machine. */
  toRemote(text: string): string {
    return this.#translate(text, 'local', 'remote')
  }

  /**
   * Whether a path or `file:` URI that {@link toLocal} returned is outside of this machine's mapped folders. `cwd`: an absolute path on
   * this machine.
   */
  isElsewhere(text: string, cwd: string): boolean {
    if (isUri(text) && !isFileUri(text)) return true
    const file = isFileUri(text) ? pathOf(text, this.#local) : text
    if (file === undefined || file.startsWith(ELSEWHERE) || file.startsWith('~')) return true
    const place = placeOf(this.#local.path.resolve(cwd, file), this.#local)
    return !place || !this.#pairs.some(({ local }) => isIn(local, place))
  }

  #translate(text: string, from: Side, to: Side): string {
    if (text === '' || this.#pairs.length === 0) return text
    if (isFileUri(text)) return this.#translateUri(text, from, to)
    if (isUri(text)) return text
    const mapped = this.#mapped(text, from, to)
    if (mapped) return mapped.file
    if (text.startsWith(ELSEWHERE)) return this.#withoutPrefix(text, text.slice(ELSEWHERE.length), from, to)
    if (this.#isTaken(text, to)) return ELSEWHERE + text
    const isOfWindows = to === 'local' && !this.#local.isWindows && this.#pairs.every(isRemoteWindows)
    return isOfWindows && !text.startsWith('/') ? text.replaceAll('\\', '/') : text
  }

  #translateUri(text: string, from: Side, to: Side): string {
    for (const flavor of this.#flavors(from)) {
      const file = pathOf(text, flavor)
      const mapped = file === undefined ? undefined : this.#mapped(file, from, to)
      if (mapped) return mapped.file === file ? text : uriOf(mapped.file, mapped.flavor, text)
    }
    if (text.startsWith(ELSEWHERE_URI))
      return this.#withoutPrefix(text, `file://${text.slice(ELSEWHERE_URI.length)}`, from, to)
    const isTaken = this.#flavors(to).some(flavor => {
      const file = pathOf(text, flavor)
      return file !== undefined && this.#isTaken(file, to)
    })
    return isTaken ? text.replace(/^file:(?:\/\/[^/?#]*)?/i, ELSEWHERE_URI) : text
  }

  /** Returns `original`, the text without the prefix, if the translation in the other direction added the prefix; otherwise `text`. */
  #withoutPrefix(text: string, original: string, from: Side, to: Side): string {
    const isNested = original.startsWith(ELSEWHERE) || original.startsWith(ELSEWHERE_URI)
    return !isNested && this.#translate(original, to, from) === text ? original : text
  }

  /** Translates a path in a mapped folder; `undefined` if the path isn't mapped. */
  #mapped(text: string, from: Side, to: Side): { file: string; flavor: Flavor } | undefined {
    const found = this.#longest(text, from)
    if (!found) return undefined
    const { pair, names } = found
    const { flavor, ...root } = pair[to]
    const isOfWindows = flavor.isWindows || pair[from].flavor.isWindows
    if (isOfWindows && names.some(isNoWindowsName)) return undefined
    const file = written({ head: root.head, names: [...root.names, ...names] }, flavor)
    // the translation back may use another mapping: then the path doesn't count as mapped
    return this.#longest(file, to)?.pair === pair ? { file, flavor } : undefined
  }

  #longest(text: string, side: Side): { pair: Pair; names: string[] } | undefined {
    let longest: Pair | undefined
    let names: string[] = []
    for (const pair of this.#pairs) {
      const root = pair[side]
      if (longest && root.names.length <= longest[side].names.length) continue
      const place = placeOf(text, root.flavor)
      if (!place || !isIn(root, place)) continue
      longest = pair
      names = place.names.slice(root.names.length)
    }
    return longest && { pair: longest, names }
  }

  /** Whether the machine `by` would take the path, which isn't mapped, for a mapped path. */
  #isTaken(text: string, by: Side): boolean {
    return this.#pairs.some(pair => {
      const root = pair[by]
      const place = placeOf(text, root.flavor)
      return place ? isIn(root, place) : by === 'local' && leaves(text)
    })
  }

  #flavors(side: Side): Flavor[] {
    return side === 'local' ? [this.#local] : this.#pairs.map(({ remote }) => remote.flavor)
  }
}

/** Whether a path that an agent named isn't a path of this machine. `mappings`: those in the agent's capabilities. */
export function isElsewhere(
  mappings: readonly PathMapping[] | undefined,
  path: string,
  cwd: string,
): boolean {
  return mappings !== undefined && new PathMapper(mappings).isElsewhere(path, cwd)
}

/** Whether the path can be the root of a mapping: a local root must be absolute on this machine, the agent's root on any machine. */
export function isMappedRoot(path: string, side: Side, platform: NodeJS.Platform = hostPlatform): boolean {
  const local = platform === 'win32' ? WINDOWS : POSIX
  return rootOf(path, side === 'local' ? local : flavorOf(path)) !== undefined
}

function flavorOf(path: string): Flavor {
  return /^(?:[a-z]:|\\\\)/i.test(path) ? WINDOWS : POSIX
}

function isRemoteWindows({ remote }: Pair): boolean {
  return remote.flavor.isWindows
}

function rootOf(path: string, flavor: Flavor): Root | undefined {
  const place = placeOf(path, flavor)
  return place && { ...place, flavor }
}

/** Splits an absolute path into its head and names; `undefined` for other paths. */
function placeOf(text: string, { path, isWindows }: Flavor): Place | undefined {
  // some programs write long paths of Windows with the prefix `\\?\`
  const plain = isWindows
    ? text.replace(/^[\\/]{2}\?[\\/](?:UNC[\\/]|(?=[a-z]:))/i, whole => (/unc/i.test(whole) ? '\\\\' : ''))
    : text
  if (!path.isAbsolute(plain)) return undefined
  const normal = path.normalize(plain)
  const { root } = path.parse(normal)
  const head = isWindows ? root.replace(/\\+$/, '') : ''
  if (isWindows && head === '') return undefined
  return { head, names: normal.slice(root.length).split(path.sep).filter(Boolean) }
}

function isIn(root: Root, { head, names }: Place): boolean {
  const fold = (text: string) => (root.flavor.folds ? text.toLowerCase() : text)
  return fold(root.head) === fold(head) && root.names.every((name, i) => fold(name) === fold(names[i] ?? ''))
}

function written({ head, names }: Place, { path }: Flavor): string {
  return head + path.sep + names.join(path.sep)
}

/** Whether Windows would read the name as something else: a path, a stream or a shorter name. */
function isNoWindowsName(name: string): boolean {
  return /[\\/:*?"<>|]|[. ]$/.test(name)
}

/** Whether a path that isn't absolute on this machine may lead out of the folder where it's resolved. */
function leaves(text: string): boolean {
  if (/^(?:[\\/]|[a-z]:)/i.test(text)) return true
  let depth = 0
  for (const name of text.split(/[\\/]/)) {
    if (name === '' || name === '.') continue
    depth += name === '..' ? -1 : 1
    if (depth < 0) return true
  }
  return false
}

function isUri(text: string): boolean {
  return isFileUri(text) || /^[a-z][a-z\d+.-]+:\/\//i.test(text)
}

function isFileUri(text: string): boolean {
  return /^file:/i.test(text)
}

/** The path of a `file:` URI; `undefined` if the URI has no path on such a machine. */
function pathOf(uri: string, { isWindows }: Flavor): string | undefined {
  const [, host = '', encoded = ''] = /^file:(?:\/\/([^/?#]*))?([^?#]*)/i.exec(uri) ?? []
  // an encoded separator would be part of a name
  if (/%2f|%5c/i.test(encoded)) return undefined
  const path = decoded(encoded)
  const isHere = host === '' || /^localhost$/i.test(host)
  if (path === undefined || (!isWindows && !isHere)) return undefined
  if (!isWindows) return path
  const file = path.replaceAll('/', '\\')
  return isHere ? file.replace(/^\\(?=[a-z]:)/i, '') : `\\\\${host}${file}`
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The `file:` URI of a file, with the fragment and query of the URI `of`. */
function uriOf(file: string, { isWindows }: Flavor, of: string): string {
  const [, host = '', path = ''] = isWindows ? (/^(?:\\\\([^\\]+))?(.*)$/s.exec(file) ?? []) : ['', '', file]
  const url = new URL('file:///')
  const slashes = isWindows ? path.replaceAll('\\', '/') : path
  url.pathname = slashes.replace(/[%\\?#\n\r\t]/g, encodeURIComponent)
  return `file://${host}${url.pathname}${/[?#].*$/s.exec(of)?.[0] ?? ''}`
}
