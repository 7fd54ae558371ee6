import { stat } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import type { FileChange } from '../acp/model.ts'
import { snapshotOf, storedSnapshot, storedSnapshotSchema } from '../changes/detect/stored-snapshot.ts'
import { WorkTree } from '../changes/detect/work-tree.ts'
import type { SessionChanges } from '../changes/session-changes.ts'
import { type Disposable, DisposableStore } from '../common/disposable.ts'
import { messageOf } from '../common/errors.ts'
import type { Event } from '../common/event.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import type { Logger } from '../common/logger.ts'
import { isFinalStatus } from '../conversation/entries/tool-call.ts'
import { followToolCalls } from '../conversation/follow-tool-calls.ts'
import type { Session } from '../conversation/session.ts'
import type { Entry, ToolCallEntry } from '../conversation/state.ts'
import { FRESH_MS, isWrittenSince } from '../editor/files/file-system.ts'
import type { FilesShared } from '../editor/files/files.ts'
import { isProtectedPath, ProtectedSnapshot } from '../editor/protected-files.ts'

/** Kinds of tools that don't change files. */
const HARMLESS = new Set<ToolCallEntry['toolKind']>(['read', 'search', 'fetch', 'think'])
/** Kinds of tools that change the files they name. */
const CHANGING = new Set<ToolCallEntry['toolKind']>(['edit', 'delete', 'move'])
/** Maximum share of time for checks, and their minimum interval in milliseconds. */
const SHARE = 1 / 8
const MIN_WAIT_MS = 2000

/** A turn that may outlive its window, with the contents of its folders from before the turn. */
const storedTurn = z.object({ number: z.number(), began: z.number(), before: storedSnapshotSchema })
type StoredTurn = z.infer<typeof storedTurn>

interface Turn {
  /** number of the turn in the conversation */
  number: number
  /** A moment before it began, in milliseconds since the epoch: whatever it writes isn't older, by any clock. */
  began: number
  before: ReturnType<WorkTree['snapshot']>
  /** the turn that began before the changes of this one were found */
  next?: Turn
  /** files that the user changed meanwhile */
  saved: string[]
  /** Resolves when `before` contains the accepted changes. */
  accepted: Promise<unknown>
  /** some tool call may have changed files */
  worked: boolean
  /** some tool call named no file, such as a command */
  ran: boolean
  /** some tool calls may have run Git */
  ranGit: boolean
}

/**
 * Notifies the change tracker when turns run, and which files changed during a turn without a tool call that names them, usually because of
 * commands. Files that the user saves meanwhile are the user's. `turns`: where the turn of an agent that may outlive the window is stored,
 * so that the next window continues it.
 */
export function detectChanges(
  session: Session,
  files: SessionChanges,
  onDidSave: Event<string>,
  log: Logger,
  tree: Pick<WorkTree, 'prepare' | 'snapshot' | 'accept' | 'changed'> = new WorkTree(files),
  turns?: KeyValueStore,
): Disposable {
  const own = new DisposableStore()
  let turn: Turn | undefined
  /** turns, including ended ones, whose changes are being detected, with the number of running detections */
  const detections = new Map<Turn, number>()
  let timer: NodeJS.Timeout | undefined
  let cost = 0
  /** end of the last turn: earlier writes belong to that turn */
  let endedAt = 0
  const foldersOf = ({ setup }: Session) => [setup.cwd, ...setup.additionalDirectories]
  const key = files.session
  const store = async (begun: Turn): Promise<void> => {
    const before = storedSnapshot(await begun.before)
    if (turn !== begun || !session.agent.hosted?.outlivesWindow) return
    const { number, began } = begun
    turns?.set(key, before && ({ number, began, before } satisfies StoredTurn))
  }

  const detect = async (detected: Turn): Promise<void> => {
    const { number, before } = detected
    // the user's decisions and saves while files are being checked
    const isKeptOrUndone = files.watchDecisions()
    const known = detected.saved.length
    const isDecided = (path: string) => isKeptOrUndone(path) || detected.saved.includes(path, known)
    detections.set(detected, (detections.get(detected) ?? 0) + 1)
    try {
      await detected.accepted
      // files that tool calls have reported are known
      await files.reported
      const start = performance.now()
      const { changes, omitted, unseen } = await tree.changed(await before, {
        isDecided: isKeptOrUndone,
        ranGit: detected.ranGit,
        next: () => detected.next?.before,
      })
      cost = performance.now() - start
      await files.noticed(changes, number, isDecided)
      files.omitted = { files: omitted, folders: detected.ran ? unseen : [] }
    } catch (error) {
      log.debug(`Changes in the folders couldn't be detected: ${messageOf(error)}`)
    } finally {
      const others = detections.get(detected)! - 1
      if (others > 0) detections.set(detected, others)
      else detections.delete(detected)
    }
  }
  const detectSoon = (detected: Turn): void => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        if (turn === detected) void detect(detected)
      },
      Math.max(MIN_WAIT_MS, cost / SHARE),
    )
  }
  own.add({
    dispose: () => {
      clearTimeout(timer)
      // the agent continues in the background
      if (session.phase !== 'ready') turns?.set(key, undefined)
      void files.endTurn()
    },
  })
  tree
    .prepare(foldersOf(session))
    .catch(error => log.debug(`The folders couldn't be scanned: ${messageOf(error)}`))
  const acceptIn = (one: Turn, file: string) => {
    const { before, accepted } = one
    const accepting = before.then(taken => tree.accept(taken, file))
    one.saved.push(file)
    one.accepted = Promise.all([accepting, accepted])
      .then(() => store(one))
      .catch(error => log.debug(`A saved file couldn't be checked: ${messageOf(error)}`))
  }
  /** files that the user saved in the last moments, earliest first: a turn that begins now hasn't written them */
  const saved = new Map<string, number>()
  const accept = (file: string) => {
    const now = Date.now()
    saved.delete(file)
    saved.set(file, now)
    // the clock may have been set back
    for (const [one, at] of saved) if (at < now - FRESH_MS || at > now) saved.delete(one)
    // also right after a turn
    for (const one of new Set([...(turn ? [turn] : []), ...detections.keys()])) acceptIn(one, file)
  }
  own.add(onDidSave(accept))
  own.add(files.onDidDecide(accept))
  // otherwise, what a command wrote to the file would be saved together with the user's edit, and count as the user's
  const lookBeforeSave = async (edited: Turn, file: string) => {
    const info = await stat(file).catch(() => undefined)
    if (info && isWrittenSince(info.ctimeMs, edited.began)) await detect(edited)
  }
  own.add(
    files.onDidBeginEdit(file => {
      if (turn?.worked) void lookBeforeSave(turn, file)
    }),
  )
  const begin = (earlier?: Turn, stored?: StoredTurn) => {
    // by the clock of the file system, which may be behind: what the agent writes at once is the turn's
    const now = Date.now()
    // the clock may have been set back since the last turn
    const began = stored?.began ?? Math.max(now - FRESH_MS, endedAt > now ? 0 : endedAt)
    const before = stored
      ? Promise.resolve(snapshotOf(stored.before))
      : tree.snapshot(foldersOf(session), began)
    const begun: Turn = {
      number: session.state.turn,
      began,
      before,
      accepted: Promise.resolve(),
      saved: [],
      worked: earlier?.worked ?? false,
      ran: earlier?.ran ?? false,
      ranGit: earlier?.ranGit ?? false,
    }
    turn = begun
    for (const one of detections.keys()) one.next ??= begun
    // while a request is pending, the agent does nothing
    const isWorking = () => begun.worked && session.state.activity !== 'requires_action'
    const repositories = stored?.before.repositories.map(({ position }) => position)
    files.beginTurn(begun.number, isWorking, () => begun.ranGit, {
      ...{ began, before },
      ...(repositories && { repositories }),
    })
    for (const [file, at] of saved) if (at >= began && at <= now) acceptIn(begun, file)
    if (!stored) store(begun).catch(error => log.debug(`A turn couldn't be stored: ${messageOf(error)}`))
  }
  const note = (noted: Turn, entry: Entry | undefined): boolean => {
    if (entry?.kind !== 'tool_call' || HARMLESS.has(entry.toolKind)) return false
    noted.worked = true
    if (!CHANGING.has(entry.toolKind)) {
      noted.ran = true
      noted.ranGit ||= mayRunGit(entry)
    }
    return isFinalStatus(entry.status)
  }
  const summarize = async (ended: Turn) => {
    await (ended.worked ? detect(ended) : files.reported)
    const { number } = ended
    const changed = files.list(number)
    const sum = (side: 'added' | 'removed') => changed.reduce((all, file) => all + file[side], 0)
    if (changed.length > 0)
      session.noteFiles(number, { count: changed.length, added: sum('added'), removed: sum('removed') })
  }
  const found = turns?.get<unknown>(key)
  const stored = storedTurn.safeParse(found).data
  if (stored && session.isAtWork && stored.number === session.state.turn) {
    begin(undefined, stored)
    for (const entry of session.state.entries) if (entry.turn === stored.number) note(turn!, entry)
  } else if (found !== undefined) turns?.set(key, undefined)
  own.add(
    session.onDidChange(changes => {
      if (session.phase !== 'ready') return
      const works = session.isAtWork || (session.state.background ?? 0) > 0
      // background work of a turn may still run when the next one starts
      const earlier = turn && turn.number !== session.state.turn ? turn : undefined
      if (works && (!turn || earlier)) {
        if (earlier) {
          endedAt = Date.now()
          void summarize(earlier)
        }
        begin(earlier)
      }
      if (!turn) return
      for (const change of changes) {
        if (change.type !== 'entry') continue
        const entry = session.state.entries[session.state.index.get(change.id) ?? -1]
        if (note(turn, entry)) detectSoon(turn)
      }
      if (works) return
      const ended = turn
      turn = undefined
      endedAt = Date.now()
      void summarize(ended).then(() => {
        if (turn) return
        turns?.set(key, undefined)
        return files.endTurn()
      })
    }),
  )
  return own
}

/** Whether a tool call mentions Git, or doesn't say what it runs. */
function mayRunGit({ title, rawInput }: ToolCallEntry): boolean {
  return rawInput === undefined || /git|\bgh\b|\bjj\b/i.test(`${title} ${JSON.stringify(rawInput)}`)
}

/**
 * Notifies the change tracker of the files that the session's tool calls name and of the changes that they report, also when tool calls
 * start and end. A replay reports old changes and is ignored.
 */
export function followChanges(session: Session, changes: SessionChanges): Disposable {
  return followToolCalls(session, (entry, differs) => {
    const { toolCallId, status } = entry
    const diffs = diffsOf(entry)
    const named = CHANGING.has(entry.toolKind) ? entry.locations.map(({ path }) => path) : []
    if (diffs.length === 0 && named.length === 0) return
    const done = isFinalStatus(status)
    // an agent that asks for permission has done nothing yet
    const begun = done || (status !== 'pending' && session.state.activity !== 'requires_action')
    const paths = [...named, ...diffs.flatMap(({ changes }) => changes.map(({ path }) => path))]
    if (differs(`${done} ${begun} ${paths.join('\n')}`))
      void changes.tool({ toolCallId, begun, done }, diffs, named)
  })
}

function diffsOf(
  entry: ToolCallEntry,
): Array<{ changes: FileChange[]; patch?: { format: string; text: string } }> {
  return entry.content.flatMap(content =>
    content.type === 'diff'
      ? [{ changes: content.changes, ...(content.patch && { patch: content.patch }) }]
      : [],
  )
}

/** Changes within this time are reported together, in milliseconds. */
const GATHER_MS = 150

export interface ReportProtectedOptions {
  session: Session
  changes: Pick<SessionChanges, 'textOf' | 'noticed' | 'watchDecisions'>
  /** `watch` reports files that change on disk */
  files: Pick<FilesShared, 'watch' | 'protectedFiles'>
  /** The user saved a file in the editor. */
  onDidSave: Event<string>
  /** The client wrote a file after the user allowed it. */
  onDidWrite: Event<string>
  log: Logger
}

/**
 * Reports in the conversation when a protected file changes during a turn other than through the client: agents that
 * write with their own tools don't ask. The report offers the diff and a way to undo the change.
 */
export function reportProtected(options: ReportProtectedOptions): Disposable {
  const { session, changes, files: shared, onDidSave, onDidWrite, log } = options
  const own = new DisposableStore()
  let snapshot: Promise<ProtectedSnapshot> | undefined
  let turn = new DisposableStore()
  let timer: NodeJS.Timeout | undefined
  let checks = Promise.resolve()
  let decided = changes.watchDecisions()

  const check = () => {
    const current = snapshot
    if (current) checks = checks.then(() => report(current)).catch(failed)
  }
  const report = async (current: Promise<ProtectedSnapshot>) => {
    const isDecided = decided
    decided = changes.watchDecisions()
    // don't report what the user has just undone
    const found = (await (await current).changes()).filter(file => !isDecided(file.path))
    if (found.length === 0) return
    const files = found.map(file => file.path)
    const [first = ''] = files
    const known = found.flatMap(({ path, before }) => (before === undefined ? [] : { path, before }))
    await changes.noticed(known, undefined, isDecided)
    session.notify({
      severity: 'warning',
      title:
        files.length === 1
          ? l10n.t('{0} was changed without asking you', path.basename(first))
          : l10n.t('{0} protected files were changed without asking you', files.length),
      description: l10n.t(
        'This file controls which programs run or what agents can do. It was changed on disk during the turn by the agent, one of its commands or another program. Check the change before you continue.',
      ),
      files,
    })
  }
  const failed = (error: unknown) => log.debug(`Protected files couldn't be compared: ${messageOf(error)}`)
  const accept = (file: string) => {
    const current = snapshot
    // before a later check, and after a running one
    if (current) checks = checks.then(async () => (await current).accept(file)).catch(failed)
  }
  const begin = () => {
    const { cwd, additionalDirectories } = session.setup
    const roots = [cwd, ...additionalDirectories]
    const began = Date.now()
    snapshot = shared.protectedFiles
      .hookFolders(roots)
      .then(hooks => ProtectedSnapshot.take(roots, hooks, file => changes.textOf(file), began))
    snapshot.catch(failed)
    turn = own.add(new DisposableStore())
    const watching = shared.watch?.(file => {
      if (!isProtectedPath(file)) return
      timer ??= setTimeout(() => {
        timer = undefined
        check()
      }, GATHER_MS)
    })
    if (watching) turn.add(watching)
    turn.add(onDidSave(accept))
    turn.add(onDidWrite(accept))
  }
  const end = () => {
    clearTimeout(timer)
    timer = undefined
    check()
    own.release(turn)
    snapshot = undefined
  }

  const follow = () => {
    const works = session.phase === 'ready' && session.isAtWork
    if (works && !snapshot) begin()
    else if (!works && snapshot) end()
  }
  own.add(session.onDidChange(follow))
  own.add({ dispose: () => clearTimeout(timer) })
  follow()
  return own
}
