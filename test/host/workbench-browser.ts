import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BrowserContext, chromium } from 'playwright-core'
import { PATIENCE_MS } from '../support/patience.ts'
import { atExit } from './at-exit.ts'
import {
  browserOptions,
  type ContextOptions,
  contextOptions,
  defaultViewport,
  type Origin,
  openPage,
} from './browser.ts'
import { buildOnce } from './build-once.ts'
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

/** A browser with a profile of its own, for one window at a time. */
class Profile {
  readonly context: BrowserContext
  isLent = false
  readonly #directory: string
  readonly #forget: () => void

  private constructor(context: BrowserContext, directory: string, forget: () => void) {
    this.context = context
    this.#directory = directory
    this.#forget = forget
  }

  /** `compiled`: what the profile begins with; nothing by default. */
  static async launch(server: Server, options: ContextOptions, compiled?: string): Promise<Profile> {
    const directory = mkdtempSync(join(tmpdir(), 'parley-browser-'))
    const forget = atExit(() => rmSync(directory, { recursive: true, force: true }))
    if (compiled !== undefined) cpSync(compiled, directory, { recursive: true })
    const context = await chromium.launchPersistentContext(directory, {
      ...browserOptions(`MAP 127.0.0.1:${port} 127.0.0.1:${server.port}, `, compiling),
      ...contextOptions(options),
    })
    context.setDefaultTimeout(PATIENCE_MS)
    return new Profile(context, directory, forget)
  }

  /** The folder of what the browser compiled. */
  get scripts(): string {
    return join(this.#directory, 'Default/Code Cache')
  }

  /** Closes what a window left open, and removes what it stored. */
  async clear(): Promise<void> {
    const blank = await this.context.newPage()
    for (const page of this.context.pages()) if (page !== blank) await page.close()
    const session = await this.context.newCDPSession(blank)
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
    await this.context.clearCookies()
    await blank.setViewportSize(defaultViewport)
  }

  /** Keeps what the browser compiled in a folder, if given, with the scripts that it belongs to. */
  async close(keepIn?: string): Promise<void> {
    await this.context.close()
    if (keepIn !== undefined)
      for (const name of ['Default/Code Cache', 'Default/Cache'])
        cpSync(join(this.#directory, name), join(keepIn, name), { recursive: true })
    this.#forget()
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

/**
 * The browsers for the windows of a server. To compile the workbench takes a window one or two CPU seconds, so their profiles
 * begin with what an earlier run compiled, which a private context couldn't use. A window starts with an empty storage: it
 * has a profile for itself, which the next one gets when it's closed.
 */
export class WorkbenchBrowser {
  readonly #server: Server
  readonly #compiled: string
  readonly #profiles: Profile[] = []

  private constructor(server: Server, compiled: string) {
    this.#server = server
    this.#compiled = compiled
  }

  static async launch(vscode: InstalledVsCode, server: Server): Promise<WorkbenchBrowser> {
    return new WorkbenchBrowser(server, await compiledWorkbench(vscode))
  }

  /** A place for a window without the state of other windows. */
  async place({ viewport, scale, motion }: ContextOptions): Promise<WindowPlace> {
    const isUsual = !viewport && !scale && !motion
    const free = isUsual ? this.#profiles.find(({ isLent }) => !isLent) : undefined
    const profile = free ?? (await Profile.launch(this.#server, { viewport, scale, motion }, this.#compiled))
    profile.isLent = true
    if (!free) this.#profiles.push(profile)
    return {
      context: profile.context,
      origin,
      end: async () => {
        // another window needs the usual options
        if (!isUsual) return this.#close(profile)
        await profile.clear()
        profile.isLent = false
      },
    }
  }

  async #close(profile: Profile): Promise<void> {
    this.#profiles.splice(this.#profiles.indexOf(profile), 1)
    await profile.close()
  }

  async close(): Promise<void> {
    for (const profile of [...this.#profiles]) await this.#close(profile)
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
  await buildOnce(target, directory => compileInto(directory, vscode))
  return target
}

/** The browser keeps what it compiled once a script was loaded twice. One that doesn't only takes longer for each window. */
async function compileInto(directory: string, vscode: InstalledVsCode): Promise<void> {
  const root = new IsolatedRoot()
  const server = await startServer(vscode, root)
  try {
    const profile = await Profile.launch(server, {})
    for (const isCompiled of [() => true, () => largestFile(profile.scripts) > 4_000_000]) {
      const { page } = await openPage(profile.context, { origin })
      await page.locator('.monaco-workbench .part.statusbar .statusbar-item').first().waitFor()
      await waitFor('the compiled workbench', isCompiled).catch(() => {})
      await profile.clear()
    }
    await profile.close(directory)
  } finally {
    await server.stop()
    root.remove()
  }
}

function largestFile(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(file => file.isFile())
  return Math.max(0, ...files.map(({ parentPath, name }) => statSync(join(parentPath, name)).size))
}
