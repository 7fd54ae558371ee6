import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { exitOnSignals } from '../../host/at-exit.ts'
import { defaultViewport, launchBrowser } from '../../host/browser.ts'
import { IsolatedRoot } from '../../host/isolated-root.ts'
import { outDirectory, testDirectory } from '../../host/paths.ts'
import { processesStartedIn } from '../../host/processes.ts'
import { waitFor } from '../../host/wait-for.ts'
import { assertValidMessages } from '../../ui/support/fixture-agent.ts'
import { PageWindow, type PageWindowSettings } from './page-window.ts'

export interface PageSuiteOptions {
  /** Returns user settings to add to the default ones. Called when the root exists. */
  settings?:
    | Record<string, unknown>
    | ((root: IsolatedRoot) => Record<string, unknown> | Promise<Record<string, unknown>>)
  env?: NodeJS.ProcessEnv
}

/** Without this, the demo agent is as slow as a model. */
const demoWithoutPauses = { PARLEY_DEMO_PACE: '0' }

const sampleWorkspace = join(testDirectory, 'fixtures/workspace/sample.code-workspace')

exitOnSignals()

/** One browser for all suites of this process. */
let browser: Promise<Browser> | undefined

after(async () => {
  await (await browser)?.close()
})

/**
 * Parley in a page without a workbench, for the tests of the `describe` that creates it: like `VsCodeSuite`, which starts
 * a whole VS Code. After a failure, the next test or the retry gets the initial files, settings and sessions. Every
 * window that a test opens has its own extension host and is closed after the test.
 */
export class PageSuite {
  /** The copy of the sample workspace that windows open. A new one after a failed test. */
  workspace = ''
  readonly #options: PageSuiteOptions
  #isSpoiled = false
  #root: IsolatedRoot | undefined
  #open: PageWindow[] = []
  #shared: PageWindow | undefined

  constructor(options: PageSuiteOptions = {}) {
    this.#options = options
    const suite = this
    before(() => suite.#start())
    beforeEach(async () => {
      if (!suite.#isSpoiled) return
      suite.#isSpoiled = false
      await suite.#stop()
      await suite.#start()
    })
    afterEach(async function () {
      await suite.#endTest(this.currentTest)
    })
    after(() => suite.#stop())
  }

  get root(): IsolatedRoot {
    if (!this.#root) throw new Error('The root exists only during the tests')
    return this.#root
  }

  /** Opens a window, by default with the sample workspace. */
  async open(settings: PageWindowSettings = {}): Promise<PageWindow> {
    browser ??= launchBrowser()
    const window = await PageWindow.open(await browser, this.root, {
      workspace: this.workspace,
      ...settings,
      env: { ...demoWithoutPauses, ...this.#options.env, ...settings.env },
    })
    this.#open.push(window)
    return window
  }

  /** A window that tests share. It contains what earlier tests left, unless one failed. */
  async sharedWindow(settings: PageWindowSettings = {}): Promise<PageWindow> {
    this.#shared ??= await this.open(settings)
    this.#open = this.#open.filter(one => one !== this.#shared)
    return this.#shared
  }

  /** The shared window with only the side bar open, in the default size unless another one is given. */
  async clearedWindow(viewport = defaultViewport): Promise<PageWindow> {
    const window = await this.sharedWindow()
    await window.closeEditorsAndPanel()
    await window.page.setViewportSize(viewport)
    return window
  }

  async #start(): Promise<void> {
    const root = new IsolatedRoot()
    const { settings = {} } = this.#options
    root.updateSettings(typeof settings === 'function' ? await settings(root) : settings)
    this.workspace = root.copyWorkspace(sampleWorkspace)
    this.#root = root
  }

  async #endTest(test: Mocha.Test | undefined): Promise<void> {
    // a test has no state if its hook failed
    const failed = test !== undefined && test.state !== 'passed' && !test.isPending()
    const windows = [...this.#open, ...(failed && this.#shared ? [this.#shared] : [])]
    this.#open = []
    if (failed) this.#shared = undefined
    this.#isSpoiled ||= failed
    const open = windows.filter(({ isClosed }) => !isClosed)
    if (failed) await this.#keepEvidence(test.fullTitle(), open)
    for (const window of windows) await window.close()
  }

  /** Saves a screenshot of each window and all logs of a failed test. */
  async #keepEvidence(title: string, windows: PageWindow[]): Promise<void> {
    const directory = join(outDirectory, 'page', title.replace(/[^\w-]+/g, '-').slice(0, 120))
    mkdirSync(directory, { recursive: true })
    this.#root?.copyLogs(directory)
    for (const [index, window] of windows.entries()) {
      const name = join(directory, `window-${index + 1}`)
      writeFileSync(`${name}.log`, [...window.consoleMessages, window.hostOutput].join('\n'))
      await window.page.screenshot({ path: `${name}.png` }).catch(() => {})
    }
    console.log(`      kept in ${directory}`)
  }

  /** Fails if the extension left a process running. */
  async #stop(): Promise<void> {
    const [shared, root] = [this.#shared, this.#root]
    this.#shared = this.#root = undefined
    await shared?.close()
    if (!root) return
    try {
      const left = () => processesStartedIn(root.directory)
      await waitFor('end of all processes', () => left().length === 0).catch(() => {
        const strays = left()
        for (const { pid } of strays) process.kill(pid, 'SIGKILL')
        const named = strays.map(({ pid, command }) => `${pid} ${command}`)
        if (strays.length > 0) throw new Error(`Left running: ${named.join('; ')}`)
      })
      assertValidMessages(root)
    } finally {
      root.remove()
    }
  }
}
