import { homedir } from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import * as l10n from '@vscode/l10n'
import type { FrameDetails, InspectorNames, TurnTimeline } from '../../bridge/inspector.ts'
import { type InspectorHostMessages, inspectorMessages, MAX_ROWS } from '../../bridge/inspector-messages.ts'
import { type DisposableStore, toDisposable } from '../../common/disposable.ts'
import { messageOf } from '../../common/errors.ts'
import type { SteppedWork } from '../../conversation/replay/stepped-work.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { titleOf } from '../../sessions/session-title.ts'
import { linesFilter } from '../history/export-sessions.ts'
import { PROTOCOL_VIEW_TYPE } from '../ids.ts'
import type { Platform } from '../platform.ts'
import { reportErrors } from '../report-errors.ts'
import type { WebviewConnection } from '../webview-connection.ts'
import { WebviewTab, type WebviewTabOptions } from '../webview-tab.ts'
import { FrameView } from './frame-view.ts'
import { importFrames, lineOf } from './import-frames.ts'
import type { ProtocolRecorder } from './protocol-recorder.ts'
import type { ReplayTab } from './replay-tab.ts'
import { findTurn } from './turn-timeline.ts'

interface InspectorPageOptions extends WebviewTabOptions {
  recorder: ProtocolRecorder
  manager: Pick<SessionManager, 'find' | 'list'>
  replay: Pick<ReplayTab, 'show'>
  platform: Pick<Platform, 'version' | 'editor' | 'issues' | 'secrets'>
}

/** How long changes are collected before they are sent to the page, in milliseconds. */
const STATE_MS = 100
/** How long frames are filtered before other work can run, in milliseconds. */
const FILTER_MS = 10
/** The number of frames to write to a file before other work can run. */
const EXPORTED_AT_ONCE = 1000
/** The maximum number of messages in a report. */
const REPORTED = 200

/** The editor tab with the protocol messages. Messages are recorded while the tab is open, and deleted when it's closed. */
export class InspectorPage extends WebviewTab<InspectorHostMessages> {
  readonly #options: InspectorPageOptions
  #view: FrameView
  /** the version of the filter */
  #version = 0
  #isFiltering = false
  #timer: NodeJS.Timeout | undefined
  #sentNames = ''
  /** the name of the file from which the messages were imported */
  #file: string | undefined

  constructor(options: InspectorPageOptions) {
    super(options, { viewType: PROTOCOL_VIEW_TYPE, page: 'inspector', retain: true })
    this.#options = options
    this.#view = new FrameView(options.recorder.frames, { text: '' })
    options.recorder.queuedSince = (agentId, sessionId) =>
      options.manager.find(agentId, sessionId)?.session.turns.prompt?.createdAt
  }

  protected connect(connection: WebviewConnection<InspectorHostMessages>, own: DisposableStore): void {
    const { recorder, log } = this.#options
    const closed = new AbortController()
    connection.handle(inspectorMessages, {
      'inspector/filter': ({ version, filter }) => {
        this.#version = version
        this.#view = new FrameView(recorder.frames, filter)
        this.#sentNames = ''
        this.#update()
      },
      'inspector/rows': ({ version, from, to }) => {
        if (version !== this.#version) return { from, rows: [] }
        const { from: first, frames } = this.#view.slice(from, Math.min(to, from + MAX_ROWS))
        return { from: first, rows: frames.map(({ row }) => row) }
      },
      'inspector/frame': ({ n }) => this.#details(n),
      'inspector/turn': ({ n }) => this.#turn(n),
      'inspector/record': ({ on }) => {
        // removes the messages of a file, so that they don't mix with recorded ones
        if (this.#file !== undefined) this.#clear()
        recorder.isOn = on
        if (!on) recorder.frames.interrupt()
        this.#update()
      },
      'inspector/clear': () => this.#clear(),
      'inspector/import': () => this.#import(closed.signal),
      'inspector/export': () => this.#export(),
      'inspector/report': () => this.#report(),
      'inspector/replay': ({ n }) => this.#replay(n),
    })
    recorder.isOn = true
    recorder.loadSchemas().catch((error: unknown) => log.error(messageOf(error)))
    own.add(recorder.onDidRecord(() => this.#updateSoon()))
    own.add(
      toDisposable(() => {
        closed.abort()
        recorder.close()
        this.#file = undefined
        this.#view = new FrameView(recorder.frames, { text: '' })
        clearTimeout(this.#timer)
        this.#timer = undefined
      }),
    )
  }

  protected shown(): void {
    this.#update()
  }

  #clear(): void {
    this.#file = undefined
    this.#options.recorder.frames.clear()
    this.#update()
  }

  #updateSoon(): void {
    if (!this.isVisible) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#update()
    }, STATE_MS)
  }

  /** Filters the new frames, and sends the state to the page. */
  #update(): void {
    if (!this.isVisible) return
    const isDone = this.#view.advance(FILTER_MS)
    this.#send(!isDone)
    if (isDone || this.#isFiltering) return
    this.#isFiltering = true
    void this.#filter()
  }

  async #filter(): Promise<void> {
    do await setImmediate()
    while (this.isVisible && !this.#view.advance(FILTER_MS))
    this.#isFiltering = false
    this.#update()
  }

  #send(isFiltering: boolean): void {
    const { frames, isOn } = this.#options.recorder
    const { start, end } = this.#view
    const names = this.#names()
    const text = JSON.stringify(names)
    if (text !== this.#sentNames) this.send('inspector/names', names)
    this.#sentNames = text
    this.send('inspector/state', {
      isRecording: isOn,
      ...(this.#file !== undefined && { file: this.#file }),
      count: frames.count,
      cleared: frames.cleared,
      dropped: frames.dropped,
      version: this.#version,
      isFiltering,
      start,
      end,
    })
  }

  #names(): InspectorNames {
    const { agents, sessions, methods } = this.#options.recorder.frames
    return {
      agents: agents.list.map(({ name, about }) => ({ id: name, name: about })),
      sessions: sessions.list.map(({ name, about }) => ({ id: name, title: this.#titleOf(about, name) })),
      methods: methods.list.map(({ name }) => name),
    }
  }

  #titleOf(agentId: string, sessionId: string): string {
    const open = this.#options.manager.find(agentId, sessionId)
    return (open && titleOf(open.session)) ?? sessionId
  }

  #details(n: number): FrameDetails | null {
    const { recorder } = this.#options
    const frame = recorder.frames.get(n)
    if (!frame) return null
    const position = this.#view.positionOf(n)
    const { pair, ...row } = frame.row
    const hasPair = pair !== undefined && recorder.frames.get(pair) !== undefined
    return {
      row: { ...row, ...(hasPair && { pair }) },
      json: recorder.jsonOf(frame),
      ...(frame.isCut && { isCut: true }),
      ...(frame.violations && { violations: frame.violations }),
      ...(position !== undefined && { position }),
    }
  }

  async #turn(n: number): Promise<TurnTimeline | null> {
    const { recorder } = this.#options
    const search = findTurn(recorder.frames, n, frame => recorder.jsonOf(frame))
    return (await this.#inSlices(search)) ?? null
  }

  async #inSlices<T>(work: SteppedWork<T>): Promise<T> {
    for (let end = performance.now() + FILTER_MS; ; ) {
      const step = work.next()
      if (step.done) return step.value
      if (performance.now() < end) continue
      await setImmediate()
      end = performance.now() + FILTER_MS
    }
  }

  async #export(): Promise<void> {
    const { workbench, log } = this.#options
    const { dialogs } = workbench
    await reportErrors(dialogs, 'export', log, async () => {
      const day = new Date().toISOString().slice(0, 10)
      const target = await dialogs.saveFile({
        title: l10n.t('Export Protocol Messages'),
        folder: homedir(),
        name: `parley-protocol-${day}.jsonl`,
        filters: linesFilter(),
      })
      if (!target) return
      const lines = await this.#lines()
      await dialogs.writeSaved(target, lines.join(''))
      const show = l10n.t('Open')
      const exported =
        lines.length === 1
          ? l10n.t(
              '1 message exported to {0}. Secrets are redacted, but check it before you share it.',
              target.name,
            )
          : l10n.t(
              '{0} messages exported to {1}. Secrets are redacted, but check them before you share them.',
              lines.length,
              target.name,
            )
      if ((await dialogs.info(exported, show)) === show) await dialogs.openSaved(target)
    })
  }

  /** Shows a recorded session as a read-only conversation. */
  async #replay(n: number | undefined): Promise<void> {
    const { workbench, log, recorder, replay } = this.#options
    const { dialogs } = workbench
    await reportErrors(dialogs, 'replay', log, async () => {
      const { replayFrames, sessionsIn } = await import('./replay-frames.ts')
      const sessions = sessionsIn(recorder.frames)
      const selected = n === undefined ? undefined : recorder.frames.get(n)
      const own = sessions.find(
        ({ connection, sessionId }) =>
          connection === selected?.source.connection && sessionId === selected.sessionId,
      )
      const items = sessions.map(one => {
        return { label: this.#titleOf(one.agentId, one.sessionId), description: one.agent, one }
      })
      const title = l10n.t('Select a Session to Show')
      const session = own ?? (items.length > 1 ? await dialogs.pick(items, { title }) : items[0])?.one
      if (!session) return
      const state = await this.#inSlices(
        replayFrames(recorder.frames, session, frame => recorder.jsonOf(frame)),
      )
      if (state.entries.length === 0)
        void dialogs.info(l10n.t('The messages of this session contain no conversation.'))
      else replay.show(state, session.agent, state.title ?? this.#titleOf(session.agentId, session.sessionId))
    })
  }

  /** Opens a problem report in the editor, where the user checks, edits and saves it. */
  async #report(): Promise<void> {
    const { workbench, log, manager, platform, recorder } = this.#options
    const { dialogs, editors } = workbench
    await reportErrors(dialogs, 'report', log, async () => {
      const { agentsOf, problemReport, reportChoices } = await import('./problem-report.ts')
      const choice = await dialogs.pick(reportChoices(), { title: l10n.t('Report a Problem') })
      if (!choice) return
      const lines = choice.value === 'none' ? [] : (await this.#lines(REPORTED)).reverse()
      const text = problemReport({
        ...platform,
        ...{ detail: choice.value, lines, settingValues: workbench.settingValues },
        agents: agentsOf(recorder, manager.list()),
      })
      await editors.openText(text, 'markdown')
      const open = l10n.t('Open Issues')
      const { issues } = platform
      const next = l10n.t(
        "The report isn't sent anywhere. Remove what you don't want to share, then save or copy it.",
      )
      if ((await dialogs.info(next, ...(issues === undefined ? [] : [open]))) !== open) return
      if (issues !== undefined) await editors.openLink(issues)
    })
  }

  /** Shows the messages of a file that the user selects. `closed` aborts when the tab is closed. */
  async #import(closed: AbortSignal): Promise<void> {
    const { recorder, workbench, log } = this.#options
    const { dialogs } = workbench
    await reportErrors(dialogs, 'import', log, async () => {
      const title = l10n.t('Import Protocol Messages')
      const [file] = (await dialogs.openFiles({ title, filters: linesFilter() })) ?? []
      if (file === undefined || closed.aborted) return
      if (recorder.frames.count > 0 && this.#file === undefined && !(await this.#mayReplace())) return
      if (closed.aborted) return
      recorder.isOn = false
      recorder.frames.clear()
      this.#file = path.basename(file)
      let skipped = 0
      try {
        await dialogs.progress({ title, where: 'notification', cancellable: true }, async (_, canceled) => {
          skipped = await importFrames(recorder, file, AbortSignal.any([canceled, closed]))
        })
      } catch (error) {
        this.#clear()
        if (!isAbort(error)) throw error
      }
      this.#update()
      if (skipped === 0) return
      void dialogs.warn(
        skipped === 1
          ? l10n.t('1 line was skipped because it contains no protocol message.')
          : l10n.t('{0} lines were skipped because they contain no protocol message.', skipped),
      )
    })
  }

  async #mayReplace(): Promise<boolean> {
    const replace = l10n.t('Replace')
    const detail = l10n.t('To keep the recorded messages, export them first.')
    const question = l10n.t('Replace the recorded messages with those of the file?')
    return (await this.#options.workbench.dialogs.confirm(question, { detail }, replace)) === replace
  }

  /** Resolves to the shown frames as lines of JSON, or to the last `most` of them. */
  async #lines(most = Number.POSITIVE_INFINITY): Promise<string[]> {
    const { recorder } = this.#options
    const view = this.#view
    while (!view.advance(FILTER_MS)) await setImmediate()
    const lines: string[] = []
    const { end } = view
    for (let at = Math.max(view.start, end - most); at < end; ) {
      const { from, frames } = view.slice(at, Math.min(end, at + EXPORTED_AT_ONCE))
      for (const frame of frames) lines.push(lineOf(recorder, frame))
      at = Math.max(at + EXPORTED_AT_ONCE, from)
      await setImmediate()
    }
    return lines
  }
}

/** Whether the error means that the user canceled or closed the tab. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
