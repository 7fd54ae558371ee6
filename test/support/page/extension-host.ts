import { fork } from 'node:child_process'
import { join } from 'node:path'
import { atExit } from '../../host/at-exit.ts'
import { installVsCode } from '../../host/install-vscode.ts'
import { testDirectory } from '../../host/paths.ts'
import { current } from '../../host/vscode-versions.ts'
import type { Control } from './editor/main.ts'
import { optionsVariable, type PageWindowOptions } from './editor/options.ts'

const program = join(testDirectory, 'support/page/editor/main.ts')
const compileCache = join(testDirectory, 'support/page/editor/compile-cache.cjs')

/** The extension host: the built extension in plain Node, in a process of its own. */
export class ExtensionHost {
  readonly origin: string
  readonly #child: ReturnType<typeof fork>
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  readonly #forget: () => void
  #next = 0
  #output = ''

  private constructor(child: ReturnType<typeof fork>, origin: string) {
    this.#child = child
    this.origin = origin
    this.#forget = atExit(() => child.kill('SIGKILL'))
    child.on('message', ({ id, result, error }: { id: number; result?: unknown; error?: string }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(result)
      else waiting?.reject(new Error(error))
    })
    child.on('exit', () => {
      for (const waiting of this.#waiting.values())
        waiting.reject(new Error(`The host ended\n${this.#output}`))
    })
  }

  static async start(options: PageWindowOptions, env: NodeJS.ProcessEnv): Promise<ExtensionHost> {
    // the Node of VS Code's extension host has SQLite
    const { node } = await installVsCode(current)
    const child = fork(program, {
      execPath: node,
      execArgv: ['--disable-warning=ExperimentalWarning', '--require', compileCache],
      env: { ...env, [optionsVariable]: JSON.stringify(options) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (host) host.#output += text
      })
    let host: ExtensionHost | undefined
    const origin = await new Promise<string>((resolve, reject) => {
      child.once('message', ({ origin }: { origin: string }) => resolve(origin))
      child.once('exit', () => reject(new Error(`The extension host didn't start\n${output}`)))
    })
    host = new ExtensionHost(child, origin)
    host.#output = output
    return host
  }

  get output(): string {
    return this.#output
  }

  call<M extends keyof Control>(
    method: M,
    ...args: Parameters<Control[M]>
  ): Promise<Awaited<ReturnType<Control[M]>>> {
    const id = ++this.#next
    const result = new Promise<unknown>((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    this.#child.send({ id, method, args })
    return result as Promise<Awaited<ReturnType<Control[M]>>>
  }

  /** As when the window closes: the extension has time to end its processes. Fails for what a wire couldn't carry. */
  async stop(): Promise<void> {
    const ended = new Promise(resolve => this.#child.once('exit', resolve))
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      await this.call('stop').catch(() => {})
      await ended
    }
    this.#forget()
    const misfit = /^Error: Can't pass .*$/m.exec(this.#output)
    if (misfit) throw new Error(misfit[0])
  }

  /** As when the extension host crashes. */
  async kill(): Promise<void> {
    const ended = new Promise(resolve => this.#child.once('exit', resolve))
    if (this.#child.kill('SIGKILL')) await ended
    this.#forget()
  }
}
