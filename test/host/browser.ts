import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Server } from './server.ts'
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
  // Nothing but this machine is reached. To stop each request and look at it would hold up the loading of every file, and
  // would do without the browser's cache.
  '--no-proxy-server',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
]

export function launchBrowser(): Promise<Browser> {
  // It ends with this process; signals are handled in one place for all that is started.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  return chromium.launch({ executablePath: findBrowser(), headless: true, args: flags, ...signals })
}

export interface OpenOptions {
  /** The `.code-workspace` file or the folder to open; neither: an empty window. */
  workspace?: string
  folder?: string
  /** Options of the workbench, such as `extensionTestsPath`. */
  payload?: Array<[string, string]>
  /** Runs before anything is loaded. */
  prepare?: (page: Page) => Promise<void>
}

export interface OpenedPage {
  page: Page
  /** What the page wrote to its console, errors included. */
  console: string[]
  /** URLs outside this machine that the page asked for, and did not get. */
  refused: string[]
}

export interface ContextOptions {
  /** In CSS pixels. */
  viewport?: { width: number; height: number }
  /** Device pixels for each of them. */
  scale?: number
  /** Show what moves as it moves. Otherwise, as where the user wants none of it: drawn in software, it costs a core. */
  motion?: boolean
}

/** A browser context with nothing in its storage: window state, secrets and the like of others are not seen. */
export async function newContext(
  browser: Browser,
  { viewport = { width: 1400, height: 900 }, scale = 1, motion = false }: ContextOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({
    viewport,
    deviceScaleFactor: scale,
    reducedMotion: motion ? 'no-preference' : 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
}

/** Loads the workbench in a new page of a context. */
export async function openPage(
  context: BrowserContext,
  server: Server,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const page = await context.newPage()
  const refused: string[] = []
  // what a page's service worker answers itself does not come so far
  page.on('requestfailed', request => {
    if (request.failure()?.errorText === 'net::ERR_NAME_NOT_RESOLVED') refused.push(request.url())
  })
  const lines: string[] = []
  page.on('console', message => lines.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => lines.push(`uncaught: ${error.stack ?? error.message}`))
  // The one question that a page asks is whether it may be left.
  page.on('dialog', dialog => dialog.accept())
  await options.prepare?.(page)
  await page.goto(workbenchAddress(server, options), { waitUntil: 'domcontentloaded' })
  return { page, console: lines, refused }
}

export function workbenchAddress(server: Pick<Server, 'origin'>, options: OpenOptions): string {
  const query = new URLSearchParams()
  if (options.workspace) query.set('workspace', options.workspace)
  else if (options.folder) query.set('folder', options.folder)
  else query.set('ew', 'true')
  if (options.payload) query.set('payload', JSON.stringify(options.payload))
  return `${server.origin}/?${query}`
}
