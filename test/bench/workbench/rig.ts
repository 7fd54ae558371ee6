import { join } from 'node:path'
import type { Browser, CDPSession } from 'playwright-core'
import { launchBrowser } from '../../host/browser.ts'
import { installVsCode } from '../../host/install-vscode.ts'
import { IsolatedRoot } from '../../host/isolated-root.ts'
import { packVsix } from '../../host/pack-vsix.ts'
import { testDirectory, vsixFile } from '../../host/paths.ts'
import { installVsix, type Server, startServer } from '../../host/server.ts'
import { current } from '../../host/vscode-versions.ts'
import { waitFor } from '../../host/wait-for.ts'
import { Workbench } from '../../host/workbench.ts'
import { ConversationPage } from '../../ui/support/conversation-page.ts'
import { agentLog, fixtureAgent, type LogLine } from '../../ui/support/fixture-agent.ts'
import { HistoryPage } from '../../ui/support/history-page.ts'
import { CpuClock } from './cpu.ts'
import { bigSession, turns } from './sizes.ts'

const agentName = 'Fixture Agent'

/** A server with the packaged extension and the fixture agent, and a browser, for the whole benchmark. */
export class Rig {
  readonly browser: Browser
  readonly server: Server
  readonly workspace: string
  readonly agentName = agentName

  private constructor(browser: Browser, server: Server, workspace: string) {
    this.browser = browser
    this.server = server
    this.workspace = workspace
  }

  static async start(): Promise<Rig> {
    const vscode = await installVsCode(current)
    const root = new IsolatedRoot()
    const workspace = root.copyWorkspace(join(testDirectory, 'fixtures/workspace/sample.code-workspace'))
    const session = {
      sessionId: bigSession.id,
      title: bigSession.title,
      cwd: join(workspace, '../planets-api'),
    }
    root.updateSettings({
      'parley.agents': {
        fixture: fixtureAgent(root, agentName, { results: { 'session/list': { sessions: [session] } } }),
      },
      'parley.defaultAgent': 'fixture',
    })
    await installVsix(vscode, root, vsixFile)
    const emptyView = join(root.directory, 'empty-view.vsix')
    packVsix(join(testDirectory, 'fixtures/empty-view'), emptyView)
    await installVsix(vscode, root, emptyView)
    return new Rig(await launchBrowser(), await startServer(vscode, root), workspace)
  }

  /** Opens a window with a new extension host, without warm-up. */
  async open(): Promise<BenchWindow> {
    const workbench = await Workbench.open(this.browser, this.server, {
      workspace: this.workspace,
      motion: true,
    })
    return BenchWindow.of(this, workbench)
  }

  /** The lines of the agent's log since a time. */
  logSince(since: number): LogLine[] {
    return agentLog(this.server.root, agentName).filter(line => (line.at ?? 0) >= since)
  }

  async stop(): Promise<void> {
    await this.browser.close()
    try {
      await this.server.stop()
    } finally {
      this.server.root.remove()
    }
  }
}

/** A window, used like a user would. */
export class BenchWindow {
  readonly rig: Rig
  readonly workbench: Workbench
  readonly cpu: CpuClock
  readonly devtools: CDPSession

  private constructor(rig: Rig, workbench: Workbench, cpu: CpuClock, devtools: CDPSession) {
    this.rig = rig
    this.workbench = workbench
    this.cpu = cpu
    this.devtools = devtools
  }

  static async of(rig: Rig, workbench: Workbench): Promise<BenchWindow> {
    await (await ConversationPage.open(workbench)).composer.waitFor()
    const cpu = await CpuClock.of(rig.browser, rig.server.root.directory)
    const devtools = await workbench.page.context().newCDPSession(workbench.page)
    return new BenchWindow(rig, workbench, cpu, devtools)
  }

  /** Starts a session, and waits until the view is ready for a prompt and idle. */
  async newSession(): Promise<ConversationPage> {
    return ConversationPage.startSession(this.workbench, agentName)
  }

  /** Moves to the agent's row in the quick pick; accepting it starts a session. */
  highlightAgent(): Promise<void> {
    return this.workbench.runAndHighlight('Parley: New Session with Agent…', agentName)
  }

  acceptHighlighted(): Promise<void> {
    return this.workbench.page.keyboard.press('Enter')
  }

  /** The displayed conversation. */
  displayedConversation(): Promise<ConversationPage> {
    return ConversationPage.find(this.workbench)
  }

  /** Searches for the long session in History; accepting it loads the session. */
  async highlightLongSession(): Promise<void> {
    const history = await HistoryPage.open(this.workbench)
    await history.find(bigSession.title)
  }

  /** Shows the long session; loads it if another one is displayed. */
  async openLongSession(): Promise<ConversationPage> {
    const before = await this.displayedConversation()
    if (await before.frame.locator('.header', { hasText: bigSession.title }).count()) return before
    // the agent may not be running yet
    await this.newSession()
    await this.highlightLongSession()
    await this.acceptHighlighted()
    const conversation = await this.displayedConversation()
    await conversation.frame
      .getByText(new RegExp(`Answer ${turns}\\b`))
      .first()
      .waitFor()
    return conversation
  }

  /** The memory of all scripts in the page, including the workbench's, after garbage collection. Bytes. */
  async heapSize(): Promise<number> {
    await this.devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.devtools.send('Runtime.getHeapUsage')
    return usedSize
  }

  /** Waits for a line of the agent's log that was written since a time. */
  waitForLog(what: string, since: number, find: (line: LogLine) => boolean): Promise<LogLine> {
    return waitFor(what, () => this.rig.logSince(since).find(find), { timeout: 180_000, interval: 250 })
  }

  close(): Promise<void> {
    return this.workbench.close()
  }
}
