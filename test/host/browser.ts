import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core'
import { PATIENCE_MS } from '../support/patience.ts'
import { findBrowser } from './system-packages.ts'

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Blocks everything except this machine. Intercepting requests instead would slow down every file and disable the
  // browser's cache.
  '--no-proxy-server',
]

/** What the tests' browsers have in common. `addresses`: rules for host names, before the one that blocks others. */
export function browserOptions(addresses = '', extraFlags: readonly string[] = []): LaunchOptions {
  return {
    executablePath: findBrowser(),
    headless: true,
    args: [
      ...flags,
      ...extraFlags,
      `--host-resolver-rules=${addresses}MAP 127.0.0.1 127.0.0.1, MAP * ~NOTFOUND`,
    ],
    // Exits with this process; `exitOnSignals` handles signals for everything that a run starts.
    ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
  }
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch(browserOptions())
}

export interface OpenOptions {
  /** The `.code-workspace` file or folder to open; without either, an empty window. */
  workspace?: string
  folder?: string
  /** Options of the workbench, such as `extensionTestsPath`. */
  payload?: Array<[string, string]>
  /** Runs before anything is loaded. */
  prepare?: (page: Page) => Promise<void>
}

export interface OpenedPage {
  page: Page
  /** The messages in the page's console, including errors. */
  console: string[]
  /** URLs outside of this machine that the page requested without success. */
  refused: string[]
}

export interface ContextOptions {
  /** In CSS pixels. */
  viewport?: { width: number; height: number }
  /** Device pixels for each of them. */
  scale?: number
  /**
   * Enables animations. They are disabled by default, as with reduced motion, because software rendering needs a whole
   * core.
   */
  motion?: boolean
}

/** The size of a window in CSS pixels, unless a test needs another one. */
export const defaultViewport = { width: 1400, height: 900 }

export function contextOptions({
  viewport = defaultViewport,
  scale = 1,
  motion = false,
}: ContextOptions = {}): BrowserContextOptions {
  return {
    viewport,
    deviceScaleFactor: scale,
    reducedMotion: motion ? 'no-preference' : 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  }
}

/** A browser context with empty storage: no window state or secrets of other windows. */
export async function newContext(browser: Browser, options?: ContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(contextOptions(options))
  context.setDefaultTimeout(PATIENCE_MS)
  return context
}

/** What serves the workbench: VS Code's server, or its address in a browser. */
export interface Origin {
  readonly origin: string
}

/** Loads the workbench in a new page of a context. */
export async function openPage(
  context: BrowserContext,
  server: Origin,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const page = await context.newPage()
  const refused: string[] = []
  // responses from a page's service worker aren't reported here
  page.on('requestfailed', request => {
    if (request.failure()?.errorText === 'net::ERR_NAME_NOT_RESOLVED') refused.push(request.url())
  })
  const lines: string[] = []
  page.on('console', message => lines.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => lines.push(`uncaught: ${error.stack ?? error.message}`))
  // The only dialog that a page opens asks whether to leave it.
  page.on('dialog', dialog => dialog.accept())
  await options.prepare?.(page)
  await page.goto(workbenchAddress(server, options), { waitUntil: 'domcontentloaded' })
  return { page, console: lines, refused }
}

export function workbenchAddress(server: Origin, options: OpenOptions): string {
  const query = new URLSearchParams()
  if (options.workspace) query.set('workspace', options.workspace)
  else if (options.folder) query.set('folder', options.folder)
  else query.set('ew', 'true')
  if (options.payload) query.set('payload', JSON.stringify(options.payload))
  return `${server.origin}/?${query}`
}
