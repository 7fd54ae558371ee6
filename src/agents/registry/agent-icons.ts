import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { forEachConcurrent, withDeadline } from '../../common/async.ts'
import { Owner } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { Emitter } from '../../common/event.ts'
import { MAX_ICON, REGISTRY_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { writeWhole } from '../../common/whole-files.ts'
import type { RegistryAgent } from './registry-format.ts'
import { leadsToLocalHost, secureFetch } from './secure-fetch.ts'

export interface AgentIconsOptions {
  /** The directory where the icons are stored. */
  directory: string
  /** The file with the icons that come with Parley, by the agents' registry ids. */
  bundledFile?: string
  /** Returns the registry's URL, whose host may be this machine or in a private network. */
  registryUrl: () => string | undefined
  /** VS Code's `fetch` of the extension host, which uses the proxy and certificate settings. */
  fetch: typeof fetch
  log: Logger
  now?: () => number
}

/** How long an icon with the same URL isn't fetched again, in milliseconds. */
const FRESH_MS = 7 * 24 * 3600 * 1000
/** The maximum number of icons that are fetched at the same time. */
const MAX_FETCHES = 4

const bundled = z.record(z.string(), z.string().max(MAX_ICON))

const storedIcons = z.record(
  z.string(),
  z.object({ address: z.string(), checkedAt: z.number(), svg: z.string().max(MAX_ICON).optional() }),
)

/**
 * The icons of the registry's agents, by the agents' ids. Icons are fetched with the registry, sanitized, and stored next to the registry,
 * so that they are available immediately the next time.
 */
export class AgentIcons extends Owner {
  readonly #options: AgentIconsOptions
  readonly #changed = this.register(new Emitter<void>())
  readonly onDidChange = this.#changed.event
  readonly #ended = new AbortController()
  #icons = new Map<string, z.output<typeof storedIcons>[string]>()
  /** The bundled icons, used for agents whose icon wasn't fetched. */
  #bundled: ReadonlyMap<string, string> = new Map()
  #loading: Promise<void> | undefined
  #refreshing = Promise.resolve()

  constructor(options: AgentIconsOptions) {
    super()
    this.#options = options
  }

  /** Returns an icon as the `data:` URI of an SVG in the color of the surrounding text; `undefined` if no icon is known. */
  get(registryId: string): string | undefined {
    const svg = this.#icons.get(registryId)?.svg ?? this.#bundled.get(registryId)
    return svg && `data:image/svg+xml,${encodeURIComponent(svg)}`
  }

  /** Reads the stored icons once. Never rejects. */
  load(): Promise<void> {
    this.#loading ??= Promise.all([this.#readBundled(), this.#read()]).then(() => {
      this.#changed.fire()
    })
    return this.#loading
  }

  /** Fetches the icons that are missing or old. Must be called only after the registry was read. Never rejects. */
  refresh(agents: readonly RegistryAgent[]): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh(agents))
    return this.#refreshing
  }

  override dispose(): void {
    this.#ended.abort()
    super.dispose()
  }

  async #refresh(agents: readonly RegistryAgent[]): Promise<void> {
    await this.load()
    const now = (this.#options.now ?? Date.now)()
    const wanted = agents.flatMap(({ id, icon }) => {
      const known = this.#icons.get(id)
      const isFresh = known?.address === icon && known !== undefined && now - known.checkedAt < FRESH_MS
      return icon === undefined || isFresh ? [] : [{ id, address: icon }]
    })
    if (wanted.length === 0) return
    await forEachConcurrent(wanted, MAX_FETCHES, async one => {
      if (this.#ended.signal.aborted) return
      const text = await this.#fetch(one.address)
      // The old icon is kept if the new one can't be fetched.
      if (text === undefined) return
      const svg = cleanIcon(text)
      if (svg === undefined) this.#options.log.warn(`The icon of ${one.id} isn't a plain SVG icon`)
      this.#icons.set(one.id, { address: one.address, checkedAt: now, ...(svg !== undefined && { svg }) })
    })
    this.#changed.fire()
    await this.#keep()
  }

  async #fetch(address: string): Promise<string | undefined> {
    try {
      return await withDeadline(REGISTRY_MS, this.#ended.signal, signal => this.#download(address, signal))
    } catch (error) {
      this.#options.log.debug(`The icon ${address.slice(0, 200)} can't be fetched: ${messageOf(error)}`)
      return undefined
    }
  }

  async #download(address: string, signal: AbortSignal): Promise<string> {
    const response = address.startsWith('data:')
      ? await this.#options.fetch(address, { signal })
      : await this.#fetchRemote(address, signal)
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`status ${response.status}`)
    }
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of response.body ?? []) {
      size += piece.length
      if (size > MAX_ICON) throw new Error('it is too large')
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString('utf8')
  }

  /**
   * Fetches an icon. Icons are fetched without asking the user, so no icon may come from this machine or its network, unless the registry
   * is there, too.
   */
  async #fetchRemote(address: string, signal: AbortSignal): Promise<Response> {
    const registry = this.#options.registryUrl()
    return secureFetch(
      async (input, init) => {
        const { origin, hostname } = new URL(String(input))
        const isOfRegistry =
          registry !== undefined && URL.canParse(registry) && new URL(registry).origin === origin
        if (!isOfRegistry && (await leadsToLocalHost(hostname)))
          throw new Error(`${origin} is not on the internet`)
        return this.#options.fetch(input, init)
      },
      address,
      { signal },
    )
  }

  async #readBundled(): Promise<void> {
    const { bundledFile } = this.#options
    if (bundledFile === undefined) return
    try {
      const icons = bundled.parse(JSON.parse(await readFile(bundledFile, 'utf8')))
      this.#bundled = new Map(
        Object.entries(icons).flatMap(([id, text]) => {
          const svg = cleanIcon(text)
          return svg === undefined ? [] : [[id, svg] as const]
        }),
      )
    } catch (error) {
      this.#options.log.warn(`The icons of well-known agents can't be read: ${messageOf(error)}`)
    }
  }

  async #read(): Promise<void> {
    try {
      const icons = storedIcons.parse(JSON.parse(await readFile(this.#file, 'utf8')))
      this.#icons = new Map(
        Object.entries(icons).map(([id, { svg, ...about }]) => {
          const clean = svg === undefined ? undefined : cleanIcon(svg)
          return [id, { ...about, ...(clean !== undefined && { svg: clean }) }]
        }),
      )
    } catch {
      // No icons are stored yet, or another version of Parley stored them.
    }
  }

  /** Stores the icons. If this fails, the icons are fetched again the next time. */
  async #keep(): Promise<void> {
    try {
      await writeWhole(this.#file, JSON.stringify(Object.fromEntries(this.#icons)))
    } catch (error) {
      this.#options.log.warn(`The agents' icons can't be stored: ${messageOf(error)}`)
    }
  }

  get #file(): string {
    return join(this.#options.directory, 'registry-icons.json')
  }
}

// ---- sanitizing -------------------------------------------------------------------------------------------------------

const SHAPES = new Set('svg g defs clipPath mask path rect circle ellipse line polyline polygon'.split(' '))
/** Elements that are removed with their content. */
const IGNORED = new Set('title desc metadata'.split(' '))
const ATTRIBUTES = new Set(
  (
    'id d x y x1 x2 y1 y2 cx cy r rx ry width height points viewBox transform opacity clip-path mask ' +
    'clipPathUnits maskUnits maskContentUnits fill fill-rule fill-opacity clip-rule ' +
    'stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-opacity'
  ).split(' '),
)
/** Allowed values: numbers, names, colors, and references inside of the icon, but no URL, escape or markup. */
const VALUE = /^(?:[\w\s.,#%()+-]*|url\(#[\w-]+\))$/
const TOKEN =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<!DOCTYPE[^>[]*>|<(\/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+/y
const MAX_DEPTH = 32

/**
 * Returns an SVG of plain shapes in `currentColor`, rebuilt from parts of the text that are known to be harmless. Returns `undefined` if
 * the text contains anything else, such as a script, a style or an image.
 */
export function cleanIcon(text: string): string | undefined {
  if (text.length > MAX_ICON) return undefined
  const open: string[] = []
  let out = ''
  let ignored = 0
  let isOver = false
  TOKEN.lastIndex = 0
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const [token, closing, name, attributes = '', empty] = TOKEN.exec(text) ?? []
    if (token === undefined) return undefined
    if (name === undefined) {
      if (token.startsWith('<') || token.trim() === '' || ignored > 0) continue
      return undefined
    }
    if (ignored > 0 || IGNORED.has(name)) {
      if (empty === '/') continue
      ignored += closing === '/' ? -1 : 1
      continue
    }
    if (closing === '/') {
      if (open.pop() !== name) return undefined
      out += `</${name}>`
      isOver ||= open.length === 0
      continue
    }
    if (isOver || !SHAPES.has(name) || (name === 'svg') !== (open.length === 0) || open.length >= MAX_DEPTH)
      return undefined
    const cleaned = cleanAttributes(attributes, name === 'svg', open.includes('mask'))
    if (cleaned === undefined) return undefined
    out += `<${name}${cleaned}${empty === '/' ? '/>' : '>'}`
    if (empty !== '/') open.push(name)
    else isOver ||= open.length === 0
  }
  return isOver && open.length === 0 && ignored === 0 ? out : undefined
}

/**
 * Returns the allowed attributes of an element; `undefined` if the icon must be rejected. `isInMask`: colors within a mask define the
 * opacity, so they are kept.
 */
function cleanAttributes(text: string, isRoot: boolean, isInMask: boolean): string | undefined {
  const found = new Map<string, string>()
  for (const [, name = '', double, single] of text.matchAll(/([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    if (!ATTRIBUTES.has(name)) {
      // Attributes that only name or describe are dropped. An attribute that can run or load something rejects the icon.
      if (/^(on|xlink:|href|style)/i.test(name)) return undefined
      continue
    }
    const value = (double ?? single ?? '').trim()
    if (!VALUE.test(value)) return undefined
    const isColor = (name === 'fill' || name === 'stroke') && value !== 'none' && !isInMask
    found.set(name, isColor ? 'currentColor' : value)
  }
  if (isRoot) {
    if (!found.has('viewBox'))
      found.set('viewBox', `0 0 ${pixels(found.get('width'))} ${pixels(found.get('height'))}`)
    for (const name of ['width', 'height', 'x', 'y']) found.delete(name)
    if (!found.has('fill')) found.set('fill', 'currentColor')
    found.set('xmlns', 'http://www.w3.org/2000/svg')
  }
  return [...found].map(([name, value]) => ` ${name}="${value}"`).join('')
}

function pixels(length: string | undefined): number {
  const number = Number.parseFloat(length ?? '')
  return number > 0 && Number.isFinite(number) ? number : 16
}
