import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { PATIENCE_MS } from '../support/patience.ts'
import { atExit } from './at-exit.ts'
import {
  browserOptions,
  type ContextOptions,
  contextOptions,
  newContext,
  type Origin,
  openPage,
} from './browser.ts'
import { cacheDirectory } from './cache-directory.mjs'
import type { InstalledVsCode } from './install-vscode.ts'
import { IsolatedRoot } from './isolated-root.ts'
import { type Server, startServer } from './server.ts'
import { findBrowser } from './system-packages.ts'
import { waitFor } from './wait-for.ts'

/** Where a window is opened, and what it must do when it's closed. */
export interface WindowPlace extends Origin {
  context: BrowserContext
  end(): Promise<void>
}

/** A context of its own for each window. */
export function placeIn(context: BrowserContext, { origin }: Origin): WindowPlace {
  return { context, origin, end: () => context.close() }
}

/** The server's port, as the browser sees it. What is compiled belongs to an address, so all servers need the same one. */
const port = 8000
const origin = `http://127.0.0.1:${port}`

const compiling = [
  // a stack trace would parse the workbench, 19 MB of JavaScript, once more
  '--js-flags=--no-enable-lazy-source-positions',
  // with BackgroundResourceFetch, the workbench is compiled although that was done; the others are Playwright's
  `--disable-features=${[
    'BackgroundResourceFetch',
    ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
    ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
    ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ].join(',')}`,
]

/**
 * The browser for the windows of a server. To compile the workbench takes a window half of its time, so its profile
 * begins with what an earlier run compiled. The browser uses that only outside of a private context: one window at a time
 * has the profile, whose storage is empty then. Others that are open get private contexts.
 */
export class WorkbenchBrowser {
  readonly #directory: string
  readonly #profile: BrowserContext
  readonly #private: Browser
  readonly #forget: () => void
  #isLent = false

  private constructor(directory: string, profile: BrowserContext, browser: Browser, forget: () => void) {
    this.#directory = directory
    this.#profile = profile
    this.#private = browser
    this.#forget = forget
  }

  static async launch(vscode: InstalledVsCode, server: Server): Promise<WorkbenchBrowser> {
    return WorkbenchBrowser.#launch(server, await compiledWorkbench(vscode))
  }

  /** With a profile that has nothing compiled. */
  static launchFresh(server: Server): Promise<WorkbenchBrowser> {
    return WorkbenchBrowser.#launch(server)
  }

  static async #launch(server: Server, compiled?: string): Promise<WorkbenchBrowser> {
    const directory = mkdtempSync(join(tmpdir(), 'parley-browser-'))
    const forget = atExit(() => rmSync(directory, { recursive: true, force: true }))
    if (compiled !== undefined) cpSync(compiled, directory, { recursive: true })
    const profile = await chromium.launchPersistentContext(directory, {
      ...browserOptions(`MAP 127.0.0.1:${port} 127.0.0.1:${server.port}, `, compiling),
      ...contextOptions(),
    })
    profile.setDefaultTimeout(PATIENCE_MS)
    const browser = profile.browser()
    if (!browser) throw new Error('The browser has ended')
    return new WorkbenchBrowser(directory, profile, browser, forget)
  }

  /** A place for a window without the state of other windows. */
  async place(options: ContextOptions): Promise<WindowPlace> {
    const { scale = 1, motion = false, viewport } = options
    if (this.#isLent || viewport || scale !== 1 || motion)
      return placeIn(await newContext(this.#private, options), { origin })
    this.#isLent = true
    return { context: this.#profile, origin, end: () => this.#clear() }
  }

  /** Closes what the window left open, and removes what it stored. */
  async #clear(): Promise<void> {
    const blank = await this.#profile.newPage()
    for (const page of this.#profile.pages()) if (page !== blank) await page.close()
    const session = await this.#profile.newCDPSession(blank)
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await this.#profile.clearCookies()
    this.#isLent = false
  }

  async close(): Promise<void> {
    await this.#profile.close()
    this.#forget()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  /** The folder of what this browser compiled. */
  get scripts(): string {
    return join(this.#directory, 'Default/Code Cache')
  }

  /** Keeps what the browser compiled, with the scripts that it belongs to. */
  async closeAndKeep(target: string): Promise<void> {
    await this.#profile.close()
    for (const name of ['Code Cache', 'Cache'])
      cpSync(join(this.#directory, 'Default', name), join(target, 'Default', name), { recursive: true })
    await this.close()
  }
}

/** The profile of a browser that has compiled this VS Code's workbench; made first if necessary. */
export async function compiledWorkbench(vscode: InstalledVsCode): Promise<string> {
  const browser = realpathSync(findBrowser())
  const { size, mtimeMs } = statSync(browser)
  const key = createHash('sha256')
    .update(JSON.stringify([vscode.serverMain, browser, size, mtimeMs, compiling, port]))
    .digest('hex')
    .slice(0, 12)
  const target = join(cacheDirectory, `workbench-${vscode.version.version}-${key}`)
  if (existsSync(target)) return target
  mkdirSync(cacheDirectory, { recursive: true })
  const directory = mkdtempSync(`${target}.partial-`)
  try {
    await compileInto(directory, vscode)
    renameSync(directory, target)
  } catch (error) {
    // Another run was faster, and its result is just as good.
    if (!existsSync(target)) throw error
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return target
}

/** The browser keeps what it compiled once a script was loaded twice. */
async function compileInto(directory: string, vscode: InstalledVsCode): Promise<void> {
  const root = new IsolatedRoot()
  const server = await startServer(vscode, root)
  try {
    const browser = await WorkbenchBrowser.launchFresh(server)
    for (const isCompiled of [() => true, () => largestFile(browser.scripts) > 4_000_000]) {
      const { context, end } = await browser.place({})
      const { page } = await openPage(context, { origin })
      await page.locator('.monaco-workbench .part.statusbar .statusbar-item').first().waitFor()
      await waitFor('the compiled workbench', isCompiled)
      await end()
    }
    await browser.closeAndKeep(directory)
  } finally {
    await server.stop()
    root.remove()
  }
}

function largestFile(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  return Math.max(0, ...files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size))
}
