import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { exitOnSignals } from '../../host/at-exit.ts'
import { defaultViewport } from '../../host/browser.ts'
import { fewBuiltInExtensions } from '../../host/built-in-extensions.ts'
import { type InstalledVsCode, installVsCode } from '../../host/install-vscode.ts'
import { IsolatedRoot } from '../../host/isolated-root.ts'
import { outDirectory, testDirectory, vsixFile } from '../../host/paths.ts'
import { installVsix, type Server, type ServerOptions, startServer } from '../../host/server.ts'
import { current, type VsCodeVersion } from '../../host/vscode-versions.ts'
import { type WindowOptions, Workbench } from '../../host/workbench.ts'
import { WorkbenchBrowser } from '../../host/workbench-browser.ts'
import { assertValidMessages } from './fixture-agent.ts'

export interface VsCodeSuiteOptions extends ServerOptions {
  /**
   * Returns user settings to add to the default ones. Called when the root exists, before a window opens.
   */
  settings?:
    | Record<string, unknown>
    | ((root: IsolatedRoot) => Record<string, unknown> | Promise<Record<string, unknown>>)
  version?: VsCodeVersion
  /** Doesn't share the server, such as for tests of how VS Code starts, and of crashes. */
  ownServer?: true
}

/** Without this, the demo agent is as slow as a model. */
const demoWithoutPauses = { PARLEY_DEMO_PACE: '0' }

const sampleWorkspace = join(testDirectory, 'fixtures/workspace/sample.code-workspace')

exitOnSignals()

/** A running VS Code with Parley, and the browser for its windows. */
interface RunningVsCode {
  server: Server
  browser: WorkbenchBrowser
}

/** The folder in which Parley is installed, once for all suites of this process. */
let extensions: Promise<string> | undefined

async function installParley(vscode: InstalledVsCode): Promise<string> {
  const root = new IsolatedRoot()
  await installVsix(vscode, root, vsixFile)
  return root.extensions
}

/** `prepare`: writes what the server finds in its root when it starts. */
async function startVsCode(
  options: Omit<VsCodeSuiteOptions, 'settings'>,
  prepare?: (root: IsolatedRoot) => Promise<void>,
): Promise<RunningVsCode> {
  const vscode = await installVsCode(options.version ?? current)
  extensions ??= installParley(vscode)
  const root = new IsolatedRoot({ extensions: await extensions })
  await prepare?.(root)
  const env = { ...demoWithoutPauses, ...options.env }
  const builtInExtensions = await fewBuiltInExtensions(vscode)
  const server = await startServer(vscode, root, { builtInExtensions, ...options, env })
  return { server, browser: await WorkbenchBrowser.launch(vscode, server) }
}

/** Fails if the extension left a process running, or sent something that isn't as the schema has it. */
async function stopVsCode({ server, browser }: RunningVsCode): Promise<void> {
  await browser.close()
  try {
    await server.stop()
    assertValidMessages(server.root)
  } finally {
    server.root.remove()
  }
}

/** The one for all suites of this process that need no other server, until a test fails. */
let sharedVsCode: RunningVsCode | undefined
after(async function () {
  this.timeout(240_000)
  if (sharedVsCode) await stopVsCode(sharedVsCode)
})

/**
 * A VS Code with the packaged Parley for the tests of the `describe` that creates it. The suites of a process share one
 * server and one browser, unless a suite's options are those of a server; each begins with the initial files and settings and
 * without sessions. After a failure, the next test or the retry has a new server, too.
 * Every window that a test opens has its own state and is closed after the test.
 */
export class VsCodeSuite {
  /** The copy of the sample workspace that windows open. A new one after a failed test. */
  workspace = ''
  /** Whether a test failed, so that the next one needs a new server. */
  #isSpoiled = false
  /** Errors from stopping the server of a failed test. */
  readonly #problems: unknown[] = []
  #running: RunningVsCode | undefined
  #open: Workbench[] = []
  #shared: Workbench | undefined

  constructor(options: VsCodeSuiteOptions = {}) {
    const suite = this
    before(async function () {
      this.timeout(240_000)
      await suite.#start(options)
    })
    beforeEach(async function () {
      if (!suite.#isSpoiled) return
      this.timeout(240_000)
      await suite.#stop().catch((problem: unknown) => suite.#problems.push(problem))
      suite.#isSpoiled = false
      await suite.#start(options)
    })
    afterEach(async function () {
      await suite.#endTest(this.currentTest)
    })
    after(async function () {
      this.timeout(240_000)
      await suite.#stop()
      for (const problem of suite.#problems) throw problem
    })
  }

  get server(): Server {
    return this.#vscode.server
  }

  get #vscode(): RunningVsCode {
    if (!this.#running) throw new Error('VS Code runs only during the tests')
    return this.#running
  }

  /** Opens a window, by default with the sample workspace. */
  async open(options: WindowOptions = {}): Promise<Workbench> {
    const workbench = await Workbench.open(this.#vscode.browser, this.server, {
      workspace: this.workspace,
      ...options,
    })
    this.#open.push(workbench)
    return workbench
  }

  /**
   * A window of the sample workspace that tests share, since opening one takes seconds. It contains what earlier tests
   * left, unless one failed.
   */
  async sharedWindow(): Promise<Workbench> {
    this.#shared ??= await this.#openShared()
    return this.#shared
  }

  /** The shared window with only the side bar open, in the default size unless another one is given. */
  async clearedWindow(viewport = defaultViewport): Promise<Workbench> {
    const workbench = await this.sharedWindow()
    await workbench.closeEditorsAndPanel()
    await workbench.page.setViewportSize(viewport)
    return workbench
  }

  async #openShared(): Promise<Workbench> {
    const workbench = await this.open()
    this.#open = this.#open.filter(one => one !== workbench)
    return workbench
  }

  async #start(options: VsCodeSuiteOptions): Promise<void> {
    const { settings = {}, ...ofServer } = options
    const prepare = async (root: IsolatedRoot) => {
      root.updateSettings(typeof settings === 'function' ? await settings(root) : settings)
      this.workspace = root.copyWorkspace(sampleWorkspace)
    }
    if (Object.keys(ofServer).length > 0) this.#running = await startVsCode(ofServer, prepare)
    else {
      sharedVsCode ??= await startVsCode({})
      this.#running = sharedVsCode
      const { root } = this.server
      root.reset()
      await prepare(root)
    }
  }

  async #endTest(test: Mocha.Test | undefined): Promise<void> {
    // a test has no state if its hook failed
    const failed = test !== undefined && test.state !== 'passed' && !test.isPending()
    const workbenches = [...this.#open, ...(failed && this.#shared ? [this.#shared] : [])]
    this.#open = []
    if (failed) this.#shared = undefined
    this.#isSpoiled ||= failed
    if (failed) await this.#keepEvidence(test.fullTitle(), workbenches)
    for (const workbench of workbenches) await workbench.close()
  }

  /** Saves a screenshot of each window and all logs of a failed test. */
  async #keepEvidence(title: string, workbenches: Workbench[]): Promise<void> {
    const directory = join(outDirectory, 'ui', title.replace(/[^\w-]+/g, '-').slice(0, 120))
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'server.log'), this.#running?.server.log ?? '')
    this.#running?.server.root.copyLogs(directory)
    for (const [index, workbench] of workbenches.entries()) {
      writeFileSync(join(directory, `window-${index + 1}.log`), workbench.consoleMessages.join('\n'))
      await workbench.page.screenshot({ path: join(directory, `window-${index + 1}.png`) }).catch(() => {})
      writeFileSync(join(directory, `window-${index + 1}-frames.log`), await framesOf(workbench.page))
    }
    console.log(`      kept in ${directory}`)
  }

  /** Fails if the extension left a process running. */
  async #stop(): Promise<void> {
    const [window, running] = [this.#shared, this.#running]
    this.#shared = this.#running = undefined
    if (!running) return
    let isKept = false
    try {
      await window?.close()
      if (running !== sharedVsCode || this.#isSpoiled) return
      await running.server.waitForEndOfWindows()
      assertValidMessages(running.server.root)
      isKept = true
    } finally {
      if (!isKept) {
        if (running === sharedVsCode) sharedVsCode = undefined
        await stopVsCode(running)
      }
    }
  }
}

/** The frames of a window with the start of their documents, which shows what never loaded. */
async function framesOf(page: Page): Promise<string> {
  const lines = page.frames().map(async frame => {
    const begin = frame.evaluate<string>("document.readyState + ' ' + document.body?.outerHTML.slice(0, 200)")
    const reported = await Promise.race([begin.catch(String), delay(2000, 'no answer', { ref: false })])
    return `${frame.url()} ${reported.replace(/\s+/g, ' ')}`
  })
  return (await Promise.all(lines)).join('\n')
}
