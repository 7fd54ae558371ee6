import { randomBytes } from 'node:crypto'
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import { DisposableStore, Owner, toDisposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import { isLocalRequest, TokenCheck } from '../server/local-http.ts'
import { type DiscoveryContent, DiscoveryFile } from './discovery-files.ts'
import { SELECTION_MS, type TerminalIde, type TerminalIdeOptions } from './terminal-editor.ts'

/** The common part of the servers for all agents: a listener with a token, the file by which agents find it, and selection changes. */
export abstract class LocalIde extends Owner implements TerminalIde {
  readonly #name: string
  protected readonly http: HttpServer
  protected readonly options: TerminalIdeOptions
  protected readonly token = randomBytes(32).toString('hex')
  readonly #check = new TokenCheck(this.token)
  #changes = 0
  #timer: NodeJS.Timeout | undefined

  abstract readonly variables: Readonly<Record<string, string>>

  /** `name`: the agent's. */
  constructor(name: string, http: HttpServer, options: TerminalIdeOptions) {
    super()
    this.#name = name
    this.http = http
    this.options = options
    const { editor, secrets, log } = options
    secrets.add(this.token)
    http.on('error', error => this.report(error))
    this.register(editor.onDidChangeSelection(() => this.selectionChanged()))
    log.info(`${name} in terminals can use the editor.`)
  }

  /** The content of the file. */
  protected abstract content(): DiscoveryContent

  /** Sends the selection to agents. `isLatest`: whether it hasn't changed again meanwhile. */
  protected abstract sendSelection(isLatest: () => boolean): Promise<void>

  /** Writes the file, which is removed when the result is disposed. Throws if the file exists or can't be written. */
  protected announce(folder: string, name: string): DisposableStore {
    const file = new DiscoveryFile(folder, name, this.content())
    const announced = this.register(new DisposableStore())
    announced.add(toDisposable(() => file.remove()))
    announced.add(
      this.options.editor.onDidChangeFolders(() => {
        try {
          file.update(this.content())
        } catch (error) {
          this.report(error)
        }
      }),
    )
    return announced
  }

  /** The status for refusing a request; `undefined` if it's accepted. */
  protected refusal(request: IncomingMessage, token: string): 401 | 403 | undefined {
    if (!isLocalRequest(request, this.http)) return 403
    return this.#check.accepts(token) ? undefined : 401
  }

  /** Sends the selection once it hasn't changed for a moment. */
  protected selectionChanged(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const change = ++this.#changes
      void this.sendSelection(() => change === this.#changes)
    }, SELECTION_MS)
  }

  protected report(error: unknown): void {
    this.options.log.warn(`The server for ${this.#name}: ${messageOf(error)}`)
  }

  override dispose(): void {
    clearTimeout(this.#timer)
    super.dispose()
    this.http.close()
    this.http.closeAllConnections()
  }
}
