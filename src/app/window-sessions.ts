import * as z from 'zod'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import { WINDOW_HEARTBEAT_MS, WINDOWS_POLL_MS } from '../common/limits.ts'
import { markdownText } from '../common/markdown-text.ts'
import { parseJson } from '../common/parse-json.ts'
import { sessionKey } from '../common/session-key.ts'
import { readableTitle } from '../conversation/mcp-tool-call.ts'
import { branchOf } from '../editor/git-branch.ts'
import type { Windows } from '../history/windows.ts'
import type { OpenSession } from '../sessions/open-session.ts'
import { requestSummary } from '../sessions/request-notifications.ts'
import type { SessionIndicator, SessionIndicators } from '../sessions/session-indicators.ts'
import type { SessionManager } from '../sessions/session-manager.ts'
import { titleOf } from '../sessions/session-title.ts'
import { type WatchedSessions, watchSessions } from '../sessions/watch-sessions.ts'

/** The maximum number of a window's sessions that are published. */
const MAX_SESSIONS = 200
/** The maximum number of used paths that a window publishes. */
const MAX_USED = 1000
/** The maximum length of the last line of a session, in characters. */
const MAX_LINE = 200
/** The number of entries at the end of a conversation in which the last line is searched. */
const MAX_ENTRIES = 20
/** The delay before changes are published for other windows, in milliseconds. */
const WRITE_MS = 300
/** The delay before a changed last line is published, in milliseconds. An agent that is writing changes the line constantly. */
const SAID_MS = 2000

const text = (max: number) => z.string().max(max)
const session = z.object({
  agentId: text(4096).min(1),
  agentName: text(4096),
  sessionId: text(4096).min(1),
  title: text(4096).optional(),
  indicator: z.enum(['running', 'waiting', 'done', 'failed']),
  cwd: text(32_768),
  branch: text(256).optional(),
  line: text(4 * MAX_LINE).optional(),
  /** milliseconds since the epoch */
  at: z.number().int().nonnegative().optional(),
  cost: z.object({ amount: z.number().nonnegative(), currency: text(64) }).optional(),
})
const windowState = z.object({
  /** the URI of the window's folder or workspace file; absent without a workspace */
  workspace: text(32_768).optional(),
  sessions: z.array(z.unknown()).max(MAX_SESSIONS),
  /**
   * Directories in which the window's sessions run turns, background tasks or commands, or in which sessions start; absent if there are
   * none.
   */
  busy: z.array(text(32_768)).max(MAX_SESSIONS).optional(),
  /** The window's folders, and its files with unsaved changes; absent if there are none. */
  used: z.array(text(32_768)).max(MAX_USED).optional(),
})
const request = z.object({ agentId: text(4096), sessionId: text(4096) })

/** A session that runs, waits, or ended its work and hasn't been seen since. */
export type SessionSummary = z.infer<typeof session>

/** A session of another window on this machine. */
export interface OtherSession extends SessionSummary {
  window: { name: string; workspace?: string }
}

interface WindowSessionsOptions {
  windows: Pick<Windows, 'publish' | 'others' | 'hasNews' | 'request' | 'takeRequest'>
  /** The URI of this window's workspace; empty for none. */
  workspace: string
  manager: Pick<SessionManager, 'list' | 'find' | 'opened' | 'onDidChange'>
  /** The sessions that this window opened or shows. */
  sessionsHere: Pick<WatchedSessions, 'list'>
  indicators: SessionIndicators
  /** The directories in which this window is starting sessions. */
  starting: () => string[]
  /** The folders of this window, and its files with unsaved changes. */
  used: () => string[]
  /** Fires when the set of used folders may have changed. Other windows must know the change before they remove a folder. */
  onDidChangeUsed: Event<void>
  /** Shows a session of this window when another window requests it. */
  show: (open: OpenSession) => void
  redact: (text: string) => string
}

/** The active sessions of all windows on this machine. Each window publishes the sessions that it opened, and reads those of the other windows. */
export class WindowSessions extends Owner {
  readonly #options: WindowSessionsOptions
  readonly #change = this.register(new Emitter<void>())
  #others: OtherSession[] = []
  #busy: string[] = []
  #used: string[] = []
  #known = '[]'
  #written = ''
  #timer: NodeJS.Timeout | undefined
  #due = 0

  /** Fires when other windows have changed their sessions. */
  readonly onDidChange = this.#change.event

  constructor(options: WindowSessionsOptions) {
    super()
    this.#options = options
    const { manager, indicators, windows } = options
    this.register(toDisposable(() => clearTimeout(this.#timer)))
    this.register(watchSessions(manager, open => this.#watch(open)))
    this.register(indicators.onDidChange(() => this.#writeSoon(WRITE_MS)))
    this.register(options.onDidChangeUsed(() => this.#writeSoon(0)))
    this.#writeSoon(WRITE_MS)
    this.#every(WINDOWS_POLL_MS, () => windows.hasNews() && this.refresh())
    // a window that crashed can't remove what it published, so all windows are checked
    this.#every(WINDOW_HEARTBEAT_MS, () => this.#check())
  }

  #every(ms: number, act: () => unknown): void {
    const timer = setInterval(act, ms)
    timer.unref()
    this.register(toDisposable(() => clearInterval(timer)))
  }

  /** Returns the sessions of the other windows, without those that this window opened or shows. */
  others(): OtherSession[] {
    const here = new Set(this.#options.sessionsHere.list().map(({ key }) => key))
    return this.#others.filter(({ agentId, sessionId }) => !here.has(sessionKey(agentId, sessionId)))
  }

  /** Returns the directories in which other windows run turns, background tasks or commands, or start sessions. */
  busy(): readonly string[] {
    return this.#busy
  }

  /** Returns the folders of the other windows, and their files with unsaved changes. */
  used(): readonly string[] {
    return this.#used
  }

  /** Returns a session of another window; `undefined` if this window opened or shows the session. */
  find(agentId: string, sessionId: string): OtherSession | undefined {
    return this.others().find(other => other.agentId === agentId && other.sessionId === sessionId)
  }

  /** Resolves to summaries of the sessions that this window opened or shows, in the same form as those of other windows. */
  async own(): Promise<Array<{ open: OpenSession; summary: SessionSummary }>> {
    const { sessionsHere, indicators } = this.#options
    const all = sessionsHere.list().map(async open => {
      const indicator = indicators.of(open)
      return indicator === 'idle' ? [] : { open, summary: await this.#summaryOf(open, indicator) }
    })
    return (await Promise.all(all)).flat().slice(0, MAX_SESSIONS)
  }

  /** Asks the session's window to show the session. */
  request({ window, agentId, sessionId }: OtherSession): void {
    this.#options.windows.request(window.name, JSON.stringify({ agentId, sessionId }))
  }

  /** Reads the published sessions of other windows. Returns false if they can't be read now. */
  refresh(): boolean {
    this.#answer()
    const states = this.#options.windows.others()
    if (!states) return false
    const busy: string[] = []
    const used: string[] = []
    const others = [...states].flatMap(([name, state]) => {
      const { success, data } = windowState.safeParse(parseJson(state))
      if (!success) return []
      const { workspace } = data
      busy.push(...(data.busy ?? []))
      used.push(...(data.used ?? []))
      return data.sessions.flatMap((one): OtherSession[] => {
        const parsed = session.safeParse(one)
        const window = { name, ...(workspace !== undefined && { workspace }) }
        return parsed.success ? [{ ...parsed.data, window }] : []
      })
    })
    this.#busy = busy
    this.#used = used
    const known = JSON.stringify(others)
    if (known !== this.#known) {
      this.#known = known
      this.#others = others
      this.#change.fire()
    }
    return true
  }

  // ---- this window -------------------------------------------------------------------------------------------------

  #watch({ session }: OpenSession): Disposable {
    return session.onDidChange(() => this.#writeSoon(SAID_MS))
  }

  #writeSoon(delay: number): void {
    const due = performance.now() + delay
    if (this.#timer !== undefined && due >= this.#due) return
    clearTimeout(this.#timer)
    this.#due = due
    this.#timer = setTimeout(() => void this.#write(), delay)
    this.#timer.unref()
  }

  async #write(): Promise<void> {
    this.#timer = undefined
    const { workspace, manager, starting, used: usedNow } = this.#options
    const opened = (await this.own()).filter(({ open }) => manager.opened(open))
    const sessions = opened.map(({ summary }) => summary)
    if (this.owned.isDisposed) return
    const working = manager.list().filter(one => one.isBusy || one.session.state.activity !== 'idle')
    const busy = [...new Set([...starting(), ...working.flatMap(sessionRoots)])].slice(0, MAX_SESSIONS)
    const used = usedNow().slice(0, MAX_USED)
    const state = {
      ...(workspace !== '' && { workspace }),
      sessions,
      ...(busy.length > 0 && { busy }),
      ...(used.length > 0 && { used }),
    }
    const written = JSON.stringify(state)
    if (written === this.#written) return
    // a window with nothing to publish stays invisible to the others
    if (sessions.length + busy.length + used.length === 0 && this.#written === '') return
    this.#written = written
    this.#options.windows.publish(written)
  }

  async #summaryOf(
    { agentId, agentName, session, plan }: OpenSession,
    indicator: Exclude<SessionIndicator, 'idle'>,
  ): Promise<SessionSummary> {
    const { redact } = this.#options
    const { cwd } = plan.setup
    const { usage, updatedAt } = session.state
    const title = titleOf(session)
    const line = summaryLine(session, redact)
    const branch = await branchOf(cwd)
    return {
      ...{ agentId, agentName, sessionId: session.sessionId, indicator, cwd },
      ...(title !== undefined && { title: redact(title).slice(0, 4096) }),
      ...(branch !== undefined && { branch }),
      ...(line !== undefined && { line }),
      ...(updatedAt !== undefined && { at: updatedAt }),
      ...(usage?.cost && usage.cost.amount >= 0 && { cost: usage.cost }),
    }
  }

  // ---- the other windows -------------------------------------------------------------------------------------------

  #check(): void {
    this.#writeSoon(WRITE_MS)
    this.refresh()
  }

  /** Shows the session that another window requested. */
  #answer(): void {
    const wanted = this.#options.windows.takeRequest()
    const { success, data } = request.safeParse(wanted && parseJson(wanted))
    const open = success ? this.#options.manager.find(data.agentId, data.sessionId) : undefined
    if (open) this.#options.show(open)
  }
}

/** Returns the folders of a session. */
export function sessionRoots({ plan: { setup } }: Pick<OpenSession, 'plan'>): string[] {
  return [setup.cwd, ...setup.additionalDirectories]
}

/** Returns one line about a session: its pending request, or else the agent's last message or action. */
export function summaryLine(
  session: OpenSession['session'],
  redact: (text: string) => string,
): string | undefined {
  const line = requestSummary(session)?.text ?? lastLine(session.state.entries)
  return line === undefined ? undefined : cut(redact(line))
}

type Entries = OpenSession['session']['state']['entries']

/** Returns the last line of the agent's message, or the title of its current work. */
function lastLine(entries: Entries): string | undefined {
  for (let at = entries.length - 1; at >= Math.max(0, entries.length - MAX_ENTRIES); at--) {
    const entry = entries[at]
    if (entry?.kind === 'tool_call' && entry.title) return readableTitle(entry.title)
    if (entry?.kind !== 'message' || entry.role !== 'agent') continue
    const last = entry.blocks.findLast(block => block.type === 'text')
    const lines = last?.type === 'text' ? markdownText(last.text.slice(-4000)).split('\n') : []
    const line = lines.findLast(one => one.trim() !== '')
    if (line !== undefined) return line.trim()
  }
  return undefined
}

function cut(line: string): string {
  const letters = Array.from(line.replace(/\s+/g, ' '))
  return letters.length > MAX_LINE ? `${letters.slice(0, MAX_LINE).join('')}…` : letters.join('')
}
