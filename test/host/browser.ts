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
  viewport?: { width: number; height: number }
  /** Runs before anything is loaded. */
  prepare?: (page: Page) => Promise<void>
}

export interface OpenedPage {
  context: BrowserContext
  page: Page
  /** What the page wrote to its console, errors included. */
  console: string[]
  /** Addresses outside this machine that the page asked for, and did not get. */
  refused: string[]
}

/** Loads the workbench in a browser context of its own: no window state is carried over from another one. */
export async function openPage(
  browser: Browser,
  server: Server,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({
    viewport: options.viewport ?? { width: 1400, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const refused: string[] = []
  await context.route(
    url => url.hostname !== '127.0.0.1',
    route => {
      refused.push(route.request().url())
      return route.abort()
    },
  )
  const page = await context.newPage()
  const lines: string[] = []
  page.on('console', message => lines.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => lines.push(`uncaught: ${error.stack ?? error.message}`))
  await options.prepare?.(page)
  await page.goto(workbenchAddress(server, options), { waitUntil: 'domcontentloaded' })
  return { context, page, console: lines, refused }
}

export function workbenchAddress(server: Pick<Server, 'origin'>, options: OpenOptions): string {
  const query = new URLSearchParams()
  if (options.workspace) query.set('workspace', options.workspace)
  else if (options.folder) query.set('folder', options.folder)
  else query.set('ew', 'true')
  if (options.payload) query.set('payload', JSON.stringify(options.payload))
  return `${server.origin}/?${query}`
}
