import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { InstalledVsCode } from './install-vscode.ts'
import type { IsolatedRoot } from './isolated-root.ts'
import { ProcessGroup, processesStartedIn, type StrayProcess } from './processes.ts'
import { runCommand } from './run-command.ts'
import { waitFor } from './wait-for.ts'

export interface ServerOptions {
  /** Added to the environment of the server, and thus of the extension host and terminals. */
  env?: NodeJS.ProcessEnv
  /** Asks for trust like the desktop. Otherwise every workspace is trusted. */
  workspaceTrust?: boolean
  /** Enables `extensionTestsPath`, which hides notifications, so it can't be used in tests of notifications. */
  testDriver?: boolean
  /** The folder of VS Code's own extensions, if it isn't that of all. */
  builtInExtensions?: string
  /** Default: a free one. Browser storage belongs to a port, so a restart keeps it by keeping the port. */
  port?: number
}

/** A running VS Code server that listens on loopback. */
export class Server {
  readonly vscode: InstalledVsCode
  readonly root: IsolatedRoot
  readonly port: number
  readonly #group: ProcessGroup

  constructor(vscode: InstalledVsCode, root: IsolatedRoot, port: number, group: ProcessGroup) {
    this.vscode = vscode
    this.root = root
    this.port = port
    this.#group = group
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get log(): string {
    return this.#group.output
  }

  /** The warnings and errors that mention Parley in the logs of its extension hosts, with their stacks. */
  extensionHostProblems(): string[] {
    const logs = join(this.root.userData, 'logs')
    const files = readdirSync(logs, { recursive: true, encoding: 'utf8' })
    const hosts = files.filter(file => file.endsWith('remoteexthost.log'))
    if (hosts.length === 0) throw new Error(`No log of an extension host in ${logs}: ${files}`)
    return hosts
      .flatMap(file => readFileSync(join(logs, file), 'utf8').split(/^(?=\d{4}-\d\d-\d\d [\d:.]+ \[)/m))
      .filter(entry => /^\S+ \S+ \[(warning|error)\]/.test(entry) && /parley\.parley/i.test(entry))
  }

  /** The URI that the workbench uses for a file of this machine. */
  uri(path: string): string {
    return `vscode-remote://127.0.0.1:${this.port}${path}`
  }

  /**
   * Stops the server and waits until no process that was started within its root is running. What an extension left
   * running is stopped, too, and reported as an error.
   */
  async stop(): Promise<void> {
    await this.#group.end()
    await this.#ended(() => processesStartedIn(this.root.directory))
  }

  /** Like `stop`, but the server goes on. All windows must be closed. */
  async waitForEndOfWindows(): Promise<void> {
    // a host of terminals stays for the next window
    const isServer = ({ pid, command }: StrayProcess) =>
      pid === this.#group.child.pid || command.includes('--type=ptyHost')
    const left = () => processesStartedIn(this.root.directory).filter(one => !isServer(one))
    await waitFor('end of the windows', () => left().length === 0).catch(() => {
      // what a closing window says may not reach the server on a busy machine, which then keeps its extension host in case
      // the window comes back
      for (const { pid, command } of left())
        if (command.includes('--type=extensionHost')) process.kill(pid, 'SIGTERM')
    })
    await this.#ended(left)
  }

  async #ended(left: () => StrayProcess[]): Promise<void> {
    // processes may take a few seconds to exit by themselves, and longer on a slow machine
    await waitFor('end of all processes', () => left().length === 0).catch(() => {
      const strays = left()
      for (const { pid } of strays) process.kill(pid, 'SIGKILL')
      if (strays.length > 0)
        throw new Error(`Left running: ${strays.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`)
    })
  }
}

/** Resolves when the server responds. */
export async function startServer(
  vscode: InstalledVsCode,
  root: IsolatedRoot,
  options: ServerOptions = {},
): Promise<Server> {
  if (options.port !== undefined) return startAt(options.port, vscode, root, options)
  // a free port isn't reserved, so another process can take it
  for (let tries = 1; ; tries++)
    try {
      return await startAt(await freePort(), vscode, root, options)
    } catch (error) {
      if (tries === 3 || !String(error).includes('EADDRINUSE')) throw error
    }
}

async function startAt(
  port: number,
  vscode: InstalledVsCode,
  root: IsolatedRoot,
  options: ServerOptions,
): Promise<Server> {
  const group = new ProcessGroup(
    vscode.node,
    [
      vscode.serverMain,
      ...directories(root),
      ...['--host', '127.0.0.1', '--port', String(port), '--without-connection-token'],
      // compression would take a fifth of the time to open a window
      ...['--accept-server-license-terms', '--telemetry-level', 'off', '--disable-websocket-compression'],
      ...(options.builtInExtensions ? ['--builtin-extensions-dir', options.builtInExtensions] : []),
      ...(options.workspaceTrust ? [] : ['--disable-workspace-trust']),
      ...(options.testDriver ? ['--enable-smoke-test-driver'] : []),
    ],
    { env: root.environment(options.env) },
  )
  const server = new Server(vscode, root, port, group)
  try {
    await waitFor('answer of the VS Code server', () => {
      if (group.hasEnded) throw new Error('The VS Code server ended')
      // the server keeps running if its port is taken, and another server may respond there
      if (server.log.includes('EADDRINUSE')) throw new Error(`Port ${port} is taken`)
      return answers(`${server.origin}/version`)
    })
  } catch (error) {
    await server.stop()
    throw new Error(`${error}\n${server.log}`)
  }
  return server
}

/** Installs an extension for the servers in this root. */
export async function installVsix(vscode: InstalledVsCode, root: IsolatedRoot, vsix: string): Promise<void> {
  const args = [vscode.serverMain, ...directories(root), '--install-extension', vsix, '--force']
  await runCommand(vscode.node, args, { env: root.environment() })
}

function directories(root: IsolatedRoot): string[] {
  return ['--user-data-dir', root.userData, '--extensions-dir', root.extensions]
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)
  await response?.body?.cancel()
  return response?.ok ?? false
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port)
        else reject(new Error('No free port'))
      })
    })
  })
}
