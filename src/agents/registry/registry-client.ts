import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { messageOf } from '../../common/errors.ts'
import { REGISTRY_MS } from '../../common/limits.ts'
import type { Logger } from '../../common/logger.ts'
import { networkProblem, type RequestProblem, statusProblem } from '../../common/network-problem.ts'
import { writeWhole } from '../../common/whole-files.ts'
import { type RegistryAgent, readRegistry } from './registry-format.ts'
import { isWebAddress, RedirectError, secureFetch } from './secure-fetch.ts'

/** The maximum size of a registry, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024

export interface RegistryClientOptions {
  /** Returns the registry's URL, or `undefined` if the user turned the registry off. */
  url: () => string | undefined
  /** The directory of the file with the last response. */
  directory: string
  /** Resolves to the text of the registry that ships with Parley. */
  bundled: () => Promise<string>
  /** VS Code's `fetch` of the extension host, which uses the proxy and certificate settings. */
  fetch: typeof fetch
  log: Logger
  now?: () => number
  timeoutMs?: number
  maxBytes?: number
}

/** The registry as it was read last. */
export interface RegistrySnapshot {
  agents: RegistryAgent[]
  source: 'network' | 'cache' | 'bundled'
  /** When the registry was last fetched or found unchanged, in milliseconds since the epoch; absent for the bundled copy. */
  checkedAt?: number
}

/** The registry couldn't be read. The message is a sentence for the user. */
export class RegistryError extends Error {}

const cached = z.object({
  url: z.string(),
  etag: z.string().optional(),
  checkedAt: z.number(),
  body: z.string(),
})
type Cached = z.infer<typeof cached>

/**
 * Reads the ACP registry. Nothing is fetched before {@link RegistryClient.refresh}. A fetched registry is stored with its ETag, so that
 * it's available immediately the next time, even offline.
 */
export class RegistryClient {
  readonly #options: RegistryClientOptions
  #refreshing: Promise<RegistrySnapshot> | undefined

  constructor(options: RegistryClientOptions) {
    this.#options = options
  }

  /** Whether the user has the registry turned on. */
  get isOn(): boolean {
    return this.#options.url() !== undefined
  }

  /** Resolves to the registry without using the network: the last response from the current URL, or the copy that ships with Parley. */
  async known(): Promise<RegistrySnapshot> {
    const url = this.#options.url()
    const stored = await this.#stored()
    if (stored && stored.url === url) {
      const snapshot = this.#read(stored.body, 'cache', stored.checkedAt)
      if (snapshot) return snapshot
    }
    const bundled = await this.#options.bundled().catch(error => {
      this.#options.log.error(`The bundled registry can't be read: ${messageOf(error)}`)
      return undefined
    })
    return (bundled && this.#read(bundled, 'bundled')) || { agents: [], source: 'bundled' }
  }

  /**
   * Fetches the registry if it has changed. Concurrent callers share one request, or two requests if the URL changes in the meantime.
   * Rejects with {@link RegistryError}; then the known registry is kept.
   */
  refresh(): Promise<RegistrySnapshot> {
    this.#refreshing ??= this.#fetchCurrent().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #fetchCurrent(): Promise<RegistrySnapshot> {
    for (;;) {
      const url = this.#options.url()
      const fetched = this.#fetch(url)
      await fetched.catch(() => {})
      const now = this.#options.url()
      if (now === url || now === undefined) return fetched
    }
  }

  async #fetch(url: string | undefined): Promise<RegistrySnapshot> {
    if (url === undefined)
      throw new RegistryError(l10n.t('The agent registry is turned off in the settings.'))
    if (!isWebAddress(url))
      throw new RegistryError(l10n.t('The URL of the agent registry must start with https://.'))
    const stored = await this.#stored()
    const known = stored?.url === url ? stored : undefined
    const signal = AbortSignal.timeout(this.#options.timeoutMs ?? REGISTRY_MS)
    let response: Response
    try {
      response = await secureFetch(this.#options.fetch, url, {
        signal,
        headers: { accept: 'application/json', ...(known?.etag && { 'if-none-match': known.etag }) },
      })
    } catch (error) {
      if (error instanceof RedirectError) throw new RegistryError(error.message)
      throw this.#unreachable(networkProblem(error, url))
    }
    const now = (this.#options.now ?? Date.now)()
    if (response.status === 304 && known) {
      await response.body?.cancel()
      const snapshot = this.#read(known.body, 'network', now)
      if (snapshot) {
        await this.#keep({ ...known, checkedAt: now })
        return snapshot
      }
    }
    if (!response.ok) {
      await response.body?.cancel()
      throw this.#unreachable(statusProblem(response.status, url))
    }
    const body = await this.#readBody(response, url)
    const snapshot = this.#read(body, 'network', now)
    if (!snapshot) throw new RegistryError(l10n.t("The agent registry's response isn't a list of agents."))
    const etag = response.headers.get('etag') ?? undefined
    await this.#keep({ url, etag, checkedAt: now, body })
    return snapshot
  }

  async #readBody(response: Response, url: string): Promise<string> {
    const most = this.#options.maxBytes ?? MAX_BYTES
    const tooLarge = () =>
      new RegistryError(
        l10n.t("The agent registry's response is larger than {0} MB.", Math.ceil(most / 1024 / 1024)),
      )
    if (Number(response.headers.get('content-length') ?? 0) > most) {
      await response.body?.cancel()
      throw tooLarge()
    }
    const pieces: Uint8Array[] = []
    let size = 0
    try {
      for await (const piece of response.body ?? []) {
        size += piece.length
        if (size > most) throw tooLarge()
        pieces.push(piece)
      }
    } catch (error) {
      throw error instanceof RegistryError ? error : this.#unreachable(networkProblem(error, url))
    }
    return Buffer.concat(pieces).toString('utf8')
  }

  #unreachable({ reason, advice, detail }: RequestProblem): RegistryError {
    this.#options.log.warn(`The agent registry can't be reached: ${detail}`)
    return new RegistryError(l10n.t("The agent registry can't be reached: {0}. {1}", reason, advice))
  }

  #read(body: string, source: RegistrySnapshot['source'], checkedAt?: number): RegistrySnapshot | undefined {
    try {
      const { agents, problems } = readRegistry(JSON.parse(body))
      for (const problem of problems) this.#options.log.warn(`Agent registry (${source}): ${problem}`)
      return { agents, source, ...(checkedAt !== undefined && { checkedAt }) }
    } catch (error) {
      this.#options.log.warn(`Agent registry (${source}): ${messageOf(error)}`)
      return undefined
    }
  }

  get #file(): string {
    return join(this.#options.directory, 'registry.json')
  }

  async #stored(): Promise<Cached | undefined> {
    try {
      return cached.parse(JSON.parse(await readFile(this.#file, 'utf8')))
    } catch {
      return undefined
    }
  }

  /** Stores a response. If this fails, the registry is downloaded again the next time. */
  async #keep(answer: Cached): Promise<void> {
    try {
      await writeWhole(this.#file, JSON.stringify(answer))
    } catch (error) {
      this.#options.log.warn(`The agent registry's response can't be stored: ${messageOf(error)}`)
    }
  }
}
