/** Attributes changes on disk to authors, from the running turns and the changes that their tool calls report. */
import { relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FileChange } from '../acp/model.ts'
import { expectedText, originalText, othersPart } from '../editor/diff-texts.ts'
import { adaptLineEnds, lineEdits, mergeLines, sameLines, splitLines } from '../editor/line-edits.ts'
import { sameButEnds } from '../editor/text.ts'
import type { Moment } from './change-time.ts'
import { type AgentAuthor, type Author, sharesTurn, type TurnRef } from './change-versions.ts'
import { type FileState, sameState, textState } from './file-state.ts'
import type { StateOf } from './folder-scan.ts'
import {
  type Moved,
  movedSince,
  type RepositoryPosition,
  untilWritten,
  writtenByGit,
} from './repository-moves.ts'
import { TrackedFile } from './tracked-file.ts'

/** What a tool call does to a file, as the agent reports it. */
export interface ToolChange {
  toolCallId: string
  /** The tool call is no longer waiting, so the change may have been made. */
  begun: boolean
  done: boolean
  /** Absent if the tool call only names the file. */
  change?: FileChange
  patch?: { format: string; text: string }
}

interface Claim extends ToolChange {
  author: AgentAuthor
  /** The change was seen on disk. */
  applied: boolean
}

export interface RunningTurn {
  author: AgentAuthor
  began: Moment
  /** The agent may be changing files now. */
  isWorking: () => boolean
  covers: (path: string) => boolean
  /** The agent itself may have run Git. */
  ranGit: () => boolean
  /** where the repositories stood when it started */
  repositories: Promise<RepositoryPosition[]>
}

/** The file as it presumably was before the first tool call that reported a change of it. */
interface Assumed {
  file: TrackedFile
  text: string
  author: AgentAuthor
  /** The user has saved the file, or kept or undone its changes, since then. */
  isFinal?: true
}

/** A write through the client in progress. */
export interface ClientWrite {
  content: string
  /** what the user had typed before the editor had the agent's text */
  typed?: string
  /** The editor has the agent's text, and may format it when it saves. */
  shown?: true
}

interface Unreported {
  file: TrackedFile
  version: number
  before: TrackedFile
  /** The file is open, and its document doesn't contain the change yet. */
  isBehind: boolean
}

/** A file as the user has saved it, perhaps together with what a tool call had changed before. */
interface Saved {
  file: TrackedFile
  version: number
  text: string
  before: TrackedFile
}

/** Number of saves of a file during turns that a late report may be about. */
const MAX_SAVED = 4

export class Attribution {
  /** by session */
  readonly #turns = new Map<string, RunningTurn>()
  /** by the key of the file, like the maps below */
  readonly #claims = new Map<string, Claim[]>()
  readonly #writes = new Map<string, ClientWrite>()
  /** changes that no tool call has reported yet */
  readonly #unreported = new Map<string, Unreported>()
  /** the last saves, oldest first */
  readonly #saved = new Map<string, Saved[]>()
  /** files as they presumably were before their first reported change, corrected by later reports */
  readonly #assumed = new Map<string, Assumed>()

  // ---- turns -------------------------------------------------------------------------------------------------------

  beginTurn(session: string, turn: RunningTurn): void {
    this.#turns.set(session, turn)
  }

  get isQuiet(): boolean {
    return this.#turns.size === 0
  }

  runningTurn(session: string): RunningTurn | undefined {
    return this.#turns.get(session)
  }

  /** Turns that may be changing the file now, with their sessions. */
  workingTurns(path: string): Array<[string, RunningTurn]> {
    return [...this.#turns].filter(([, turn]) => turn.isWorking() && turn.covers(path))
  }

  /** Stops attributing changes to the turn. Returns the keys of files that it no longer awaits reports of. */
  endTurn(session: string, turn: RunningTurn): string[] {
    if (this.#turns.get(session) === turn) this.#turns.delete(session)
    // the next turn may have started meanwhile: keep what that one reported
    const isNext = this.#turns.has(session)
    const saved: string[] = []
    const isOnlyCovered = (path: string) => turn.covers(path) && !this.#isCovered(path)
    for (const noted of [this.#unreported, this.#assumed])
      for (const [key, { file }] of [...noted]) if (isOnlyCovered(file.path)) noted.delete(key)
    for (const [key, [first]] of [...this.#saved])
      if (first && isOnlyCovered(first.file.path)) {
        this.#saved.delete(key)
        saved.push(key)
      }
    const isOver = (one: TurnRef) => turn.author.turns.some(over => over.turn === one.turn)
    const released = [...this.#claims].flatMap(([key, claims]) => {
      const left = claims.filter(({ author }) =>
        author.turns.every(one => one.session !== session || (isNext && !isOver(one))),
      )
      return this.#setClaims(key, left) ? [] : key
    })
    return [...released, ...saved]
  }

  #isCovered(path: string): boolean {
    return this.#turnsOf(path).length > 0
  }

  // ---- what tool calls report --------------------------------------------------------------------------------------

  /** Whether an agent is writing the file through the client, or a tool call names it or may report later what the user has saved. */
  isAwaited(key: string): boolean {
    return this.#claims.has(key) || this.#writes.has(key) || this.#saved.has(key)
  }

  /** The write through the client in progress. */
  clientWrite(key: string): ClientWrite | undefined {
    return this.#writes.get(key)
  }

  beginWrite(key: string, write: ClientWrite): void {
    this.#writes.set(key, write)
  }

  endWrite(key: string, write: ClientWrite): void {
    if (this.#writes.get(key) === write) this.#writes.delete(key)
  }

  /** The agent has written `content` through the client, over `before`: the tool call that reports it has made its change. */
  applyWrite(key: string, { turns }: AgentAuthor, before: string, content: string): void {
    for (const claim of this.#claims.get(key) ?? []) {
      const { change, patch, author } = claim
      if (!change || change.operation === 'delete' || !sharesTurn(author, { turns })) continue
      const expected = expectedText(change, before, patch)
      if (expected !== undefined && sameButEnds(expected, content)) claim.applied = true
    }
  }

  claim(key: string, author: AgentAuthor, reported: readonly ToolChange[]): void {
    const id = reported[0]?.toolCallId
    // a change that was seen on disk and is reported once more isn't made once more
    const seen = this.#claims.get(key)?.filter(one => one.toolCallId === id && one.applied) ?? []
    const isSeen = ({ change, patch }: ToolChange) =>
      seen.some(one => isDeepStrictEqual([one.change, one.patch], [change, patch]))
    const claims = reported.map(one => ({ ...one, author, applied: isSeen(one) }))
    this.#setClaims(key, [...this.#withoutTool(key, id), ...claims])
  }

  /** The tool call is done. Returns false if no other one names the file. */
  release(key: string, toolCallId: string): boolean {
    return this.#setClaims(key, this.#withoutTool(key, toolCallId))
  }

  #withoutTool(key: string, toolCallId: string | undefined): Claim[] {
    return (this.#claims.get(key) ?? []).filter(claim => claim.toolCallId !== toolCallId)
  }

  #setClaims(key: string, claims: Claim[]): boolean {
    if (claims.length > 0) this.#claims.set(key, claims)
    else this.#claims.delete(key)
    return claims.length > 0
  }

  // ---- authors of a change -----------------------------------------------------------------------------------------

  /** Attributes to the tool calls the parts of the change that they reported. Returns whether there are any. */
  applyClaims(key: string, file: TrackedFile, now: FileState): boolean {
    const claims = this.#claims.get(key) ?? []
    let changed = false
    for (const claim of claims)
      if (!claim.applied) changed = this.#applyClaim(file, now, claim, claims) || changed
    return changed
  }

  #applyClaim(file: TrackedFile, now: FileState, claim: Claim, claims: readonly Claim[]): boolean {
    const { change, patch, author } = claim
    if (!change) return false
    if (change.operation === 'delete') {
      claim.applied = now.attributes.type === 'absent'
      return claim.applied && file.edit(now, author)
    }
    if (now.attributes.type !== 'text') return false
    const expected = expectedText(change, file.text, patch)
    if (expected === undefined) return false
    const bare = (text: string) => text.replaceAll('\r\n', '\n').replace(/\n$/, '')
    const others = bare(expected) === bare(now.text) ? file.text : othersPart(file.text, expected, now.text)
    // not there yet, or unknown
    if (others === now.text || (others === undefined && !claim.begun)) return false
    claim.applied = true
    if (others === undefined) return file.edit({ text: expected, attributes: now.attributes }, author)
    const unclaimed = claims.some(one => one !== claim && one.begun && !one.applied && one.change)
    // leave what another tool call is expected to have changed to that one
    if (unclaimed && others !== file.text)
      return file.edit({ text: expected, attributes: now.attributes }, author)
    file.editText(others, this.#authorOf(file, claims))
    return file.edit(now, author)
  }

  /**
   * The author of a change that no tool call reported completely. `changed`: when the file changed at the latest, if known, in
   * milliseconds since the epoch.
   */
  authorOf(
    key: string,
    file: TrackedFile,
    { otherwise, isGits, changed }: { otherwise: Author; isGits: boolean; changed: number | undefined },
  ): Author {
    return this.#authorOf(file, this.#claims.get(key) ?? [], otherwise, isGits, changed)
  }

  #authorOf(
    file: TrackedFile,
    claims: readonly Claim[],
    otherwise: Author = 'user',
    isGits = false,
    changed?: number,
  ): Author {
    const naming = claims.find(
      ({ begun, applied, change, patch }) =>
        begun && !applied && (!change || expectedText(change, file.text, patch) === undefined),
    )
    if (naming) return naming.author
    if (isGits) return 'user'
    const isEarlier = ({ began }: RunningTurn) => changed !== undefined && began.isAfter(changed)
    const turns = this.workingTurns(file.path).filter(([, turn]) => !isEarlier(turn))
    if (turns.length === 0) return otherwise
    return { turns: turns.flatMap(([, { author }]) => author.turns), uncertain: true }
  }

  /** Whether Git wrote the file like this during a turn whose agent didn't run Git. */
  async isGits(path: string, now: FileState, stateWith: StateOf): Promise<boolean> {
    const turns = this.#turnsOf(path)
    if (turns.some(turn => turn.isWorking() && turn.ranGit())) return false
    for (const { position, moved } of await movesIn(turns, path))
      if ((await writtenByGit(position, moved, new Map([[path, now]]), stateWith)).has(path)) return true
    return false
  }

  /** Whether Git wrote anything during a turn, whoever ran it: it may have brought back what it took away. */
  async hasGitMoved(path: string): Promise<boolean> {
    return (await movesIn(this.#turnsOf(path), path)).length > 0
  }

  #turnsOf(path: string): RunningTurn[] {
    return [...this.#turns.values()].filter(turn => turn.covers(path))
  }

  // ---- changes seen before their report ----------------------------------------------------------------------------

  /** A change without a report was seen. A tool call may report it later, or the editor may report that the user typed it. */
  noteUnreported(key: string, file: TrackedFile, before: TrackedFile, isBehind: boolean): void {
    const known = this.#unreported.get(key)
    // programs empty a file before they write it: that is one change
    const isRefilled = before.text === '' && known?.file === file && known.version === before.version
    const first = isRefilled ? known.before : before
    if (this.#isCovered(file.path))
      this.#unreported.set(key, { file, version: file.version, before: first, isBehind })
    else this.#unreported.delete(key)
  }

  /** The user has saved the file, perhaps together with changes that weren't seen before and that a tool call reports only later. */
  noteSaved(key: string, before: TrackedFile, file: TrackedFile): void {
    this.#unreported.delete(key)
    if (sameState(before.state, file.state) || !this.#isCovered(file.path)) return
    const { version, text } = file
    const known = this.#saved.get(key) ?? []
    this.#saved.set(key, [...known, { file, version, text, before }].slice(-MAX_SAVED))
  }

  /** The user has saved the file with changes undone. */
  forgetSaved(key: string): void {
    this.#unreported.delete(key)
    this.#saved.delete(key)
  }

  /** The hashes of contents that files before such a change refer to. */
  get contents(): string[] {
    const noted = [...this.#unreported.values(), ...[...this.#saved.values()].flat()]
    return noted.flatMap(({ before }) => before.contents)
  }

  /** Whether the file's open document doesn't contain the change yet that was seen on disk. */
  isDocumentBehind(key: string): boolean {
    return this.#unreported.get(key)?.isBehind === true
  }

  /** The document was reloaded from disk, so the change can't come from it. */
  documentReloaded(key: string): void {
    const unreported = this.#unreported.get(key)
    if (unreported) unreported.isBehind = false
  }

  /** Returns the file before a change that was seen before the editor reported that the user typed this text. */
  beforeTyped(key: string, file: TrackedFile, text: string): TrackedFile | undefined {
    const unreported = this.#unreported.get(key)
    if (!unreported?.isBehind || unreported.file !== file || unreported.version !== file.version)
      return undefined
    if (!sameButEnds(file.text, text)) return undefined
    this.#unreported.delete(key)
    return unreported.before
  }

  /** Returns the file before its last change, if that left it as the user has saved it and no tool call reported it. */
  beforeSaved(key: string, file: TrackedFile, now: FileState): TrackedFile | undefined {
    const unreported = this.#unreported.get(key)
    const isLast = unreported?.file === file && unreported.version === file.version
    return isLast && sameState(file.state, now) ? unreported.before : undefined
  }

  /** The author of the last change is known. */
  forgetUnreported(key: string): void {
    this.#unreported.delete(key)
  }

  /**
   * A tool call reports a change that was seen before. Returns the file before it or, if the file has changed since (`now`),
   * with the tool call as its author.
   */
  correctUnreported(
    key: string,
    file: TrackedFile,
    now: FileState,
    toolCallId: string,
  ): TrackedFile | undefined {
    const unreported = this.#unreported.get(key)
    this.#unreported.delete(key)
    const [claim, ...others] = this.#claims.get(key)?.filter(one => one.toolCallId === toolCallId) ?? []
    if (!unreported || unreported.file !== file || unreported.version !== file.version) return undefined
    if (!claim?.begun || !claim.change || claim.change.operation === 'delete' || others.length > 0)
      return undefined
    const { before } = unreported
    const expected = expectedText(claim.change, before.text, claim.patch)
    if (expected === undefined) return undefined
    if (sameButEnds(expected, now.text)) return before
    if (!sameButEnds(expected, file.text)) return undefined
    claim.applied = true
    const corrected = before.clone()
    corrected.edit(file.state, claim.author)
    return corrected
  }

  /**
   * Corrects the author of changes that were on disk when the user saved the file and were attributed to the user, but were
   * made by a tool call that reports them only now. Returns the corrected file, or `undefined` if there are none.
   */
  correctSaved(key: string, file: TrackedFile, now: FileState, toolCallId: string): TrackedFile | undefined {
    if (file.gone || file.attributes.type !== 'text') return undefined
    let current = file
    for (const claim of this.#claims.get(key) ?? []) {
      if (claim.toolCallId !== toolCallId) continue
      for (const saved of this.#saved.get(key) ?? []) {
        // otherwise, it has changed since, or changes were kept or undone
        const isLast = saved.file === current && saved.version === current.version
        const was = splitLines(saved.before.text)
        const reported = reportedIn(claim, was, saved.text, isLast && now.text === saved.text)
        if (!reported) continue
        // known already
        if (reported === was) break
        const corrected = correctedIn(saved, reported, claim.author, current, isLast)
        if (!corrected) continue
        current = corrected
        claim.applied = true
        break
      }
    }
    return current === file ? undefined : current
  }

  /** Remembers the text before the first tool call that reported a change of the file. */
  assume(key: string, file: TrackedFile, text: string, author: AgentAuthor): void {
    this.#assumed.set(key, { file, text, author })
  }

  /** From now on, a difference between the start of the turn and its first report may be the user's. */
  endCorrections(key: string): void {
    const assumed = this.#assumed.get(key)
    if (assumed) assumed.isFinal = true
  }

  /**
   * Corrects the author of a change that was made between the start of a turn (`before`) and the turn's first report: it was
   * attributed to the user, but belongs to the turn. Returns the corrected file, or `undefined` if there is no such change.
   */
  correctEarlyChange(
    key: string,
    file: TrackedFile,
    before: FileState,
    { turns }: AgentAuthor,
  ): TrackedFile | undefined {
    const assumed = this.#assumed.get(key)
    if (!assumed || assumed.file !== file || assumed.isFinal) return undefined
    const isText = before.attributes.type === 'text' && file.attributes.type === 'text'
    // an agent that overwrites a file may report it as new
    const isNew = file.base.attributes.type === 'absent'
    if (!isText || (!isNew && sameButEnds(before.text, assumed.text))) return undefined
    if (!sharesTurn(assumed.author, { turns })) return undefined
    const asOneChange = () => {
      const corrected = TrackedFile.of(file.path, before)
      corrected.edit(file.state, assumed.author)
      this.#assumed.set(key, { ...assumed, file: corrected, text: before.text })
      return corrected
    }
    if (isNew) return asOneChange()
    const was = splitLines(assumed.text)
    const base = mergeLines(was, splitLines(before.text), splitLines(file.text))?.join('')
    if (base !== undefined) {
      const corrected = file.clone()
      corrected.editText(base, 'user')
      corrected.editText(file.text, { turns, uncertain: true })
      this.#assumed.set(key, { ...assumed, file: corrected, text: before.text })
      return corrected
    }
    // the reported change is in the same lines: if the user hasn't edited them since, all of it is the tool call's
    return file.base.text === assumed.text ? asOneChange() : undefined
  }

  /**
   * Corrects the author of a change that was on disk when the first change was reported and was attributed to the user, but
   * was made by another tool call that reports it only now. Returns the corrected file, or `undefined` if there is no such
   * change.
   */
  correctLateReport(
    key: string,
    file: TrackedFile,
    author: AgentAuthor,
    reported: readonly ToolChange[],
  ): TrackedFile | undefined {
    const assumed = this.#assumed.get(key)
    if (!assumed || file.gone || file.attributes.type !== 'text') return undefined
    const saved = this.#saved.get(key) ?? []
    const last = saved.at(-1)
    // what the user saved since may be in the same lines
    const isSaved = last?.file === file && last.version === file.version
    const corrected = (isSaved ? last.before : file).clone()
    if (corrected.attributes.type !== 'text') return undefined
    const known = [...saved.map(({ before }) => before), this.#unreported.get(key)?.before, file]
    const claims = this.#claims.get(key) ?? []
    let isLate = false
    for (const { toolCallId, change, patch, begun } of reported) {
      if (!begun || change?.operation !== 'modify') continue
      if (claims.some(claim => claim.toolCallId === toolCallId && claim.applied)) continue
      const { text } = corrected
      // it may have been made after the first one was reported, unless the file was as it says before the user saved it
      const isMade = sameButEnds(change.newText ?? '', text) && !sameButEnds(change.oldText ?? '', file.text)
      if (!isMade && known.some(one => one && expectedText(change, one.text, patch) !== undefined)) continue
      const was = originalText(change, assumed.text, patch, true)
      const without = originalText(change, text, patch, true)
      if (typeof was !== 'string' || typeof without !== 'string') continue
      if (was === assumed.text || without === text) continue
      assumed.text = was
      corrected.editText(without, 'user')
      isLate = corrected.editText(text, author) || isLate
    }
    if (!isLate) return undefined
    if (assumed.file === file) assumed.file = corrected
    if (isSaved) {
      last.before = corrected.clone()
      corrected.edit(file.state, 'user')
      Object.assign(last, { file: corrected, version: corrected.version })
    }
    return corrected
  }

  /** The file isn't tracked anymore. */
  forget(key: string): void {
    this.#assumed.delete(key)
  }
}

/** What Git wrote into the file's repository since these turns started. */
async function movesIn(turns: readonly RunningTurn[], path: string) {
  const moves: Array<{ position: RepositoryPosition; moved: Moved }> = []
  for (const position of (await Promise.all(turns.map(turn => turn.repositories))).flat()) {
    if (relative(position.top, path).startsWith('..')) continue
    await untilWritten(position)
    const moved = await movedSince(position)
    if (moved) moves.push({ position, moved })
  }
  return moves
}

/** The file in which the reported lines are the author's; `undefined` if others have changed them. `isLast`: since they were saved, nothing has changed. */
function correctedIn(
  saved: Saved,
  reported: string[],
  author: AgentAuthor,
  file: TrackedFile,
  isLast: boolean,
): TrackedFile | undefined {
  const { before } = saved
  const without = mergeLines(reported, splitLines(before.text), file.lines)?.join('')
  if (!isLast && (without === undefined || without === file.text)) return undefined
  const attributes = before.attributes.type === 'text' ? before.attributes : file.attributes
  saved.before = before.clone()
  saved.before.edit({ text: reported.join(''), attributes }, author)
  const corrected = isLast ? saved.before.clone() : file.clone()
  if (!isLast) corrected.editText(without!, 'user')
  corrected.edit(file.state, isLast ? 'user' : author)
  if (isLast) Object.assign(saved, { file: corrected, version: corrected.version })
  return corrected
}

/**
 * The lines `was` with what a tool call reports to have changed in them and the user has saved in `text`; `undefined` if that
 * is nothing, and `was` itself if it's the same. `isSure`: the file is still as it was saved, so the user may have edited or undone parts of it.
 */
function reportedIn(claim: ToolChange, was: string[], text: string, isSure: boolean): string[] | undefined {
  const { change, patch, begun, done } = claim
  if (!begun || !change || change.operation === 'delete') return undefined
  const given = expectedText(change, was.join(''), patch)
  if (given === undefined) return undefined
  const meant = splitLines(adaptLineEnds(given, text))
  const is = splitLines(text)
  if (sameLines(meant, was)) return was
  if (mergeLines(was, meant, is)?.join('') === text) return meant
  if (!done || !isSure) return undefined
  // otherwise, it may contain what the user had saved before it was written
  const isBased = change.operation !== 'add'
  const isOpen = isBased && expectedText(change, text, patch) !== undefined
  const part = withPartIn(was, meant, is, { isOpen, isBased })
  return part === was ? undefined : part
}

/**
 * `was` with those edits of an author (`meant`) that the user's text (`is`) is based on; `was` itself if there are none.
 * `isOpen`: the edits may still be to come, so lines that aren't the author's don't tell that the author edited them first.
 * `isBased`: the author made the edits in `was`, so what they insert is the author's.
 */
function withPartIn(
  was: string[],
  meant: string[],
  is: string[],
  { isOpen, isBased }: { isOpen: boolean; isBased: boolean },
): string[] {
  const later = lineEdits(was, is)
  const edits = lineEdits(was, meant).filter(({ start, end, lines }) =>
    later.some(one => {
      const isReplaced = start < end
      const meets = isReplaced ? one.start < end && one.end > start : one.start <= start && one.end >= start
      const left = lines.filter(line => one.lines.includes(line))
      const isPart = isBased && left.some(line => /[\p{L}\p{N}]/u.test(line) && !was.includes(line))
      return meets && (left.length === lines.length || isPart || (isReplaced && !isOpen))
    }),
  )
  if (edits.length === 0) return was
  const part = [...was]
  for (const { start, end, lines } of edits.reverse()) part.splice(start, end - start, ...lines)
  return part
}

/** The file before a tool call whose changes aren't known yet; `undefined` if that is unknown. */
export function originalState(
  now: FileState,
  { change, patch, done, begun }: ToolChange,
): FileState | undefined {
  const { type } = now.attributes
  if (type !== 'text' && type !== 'absent') return done ? undefined : now
  if (!change) return done ? undefined : now
  // it was emptied to be written: its text is known once it's there
  const isEmptied = begun && !done && type === 'text' && now.text === ''
  const isWritten = change.operation !== 'add' && change.operation !== 'delete'
  if (isEmptied && isWritten && change.oldText !== '') return undefined
  const text = originalText(change, type === 'absent' ? null : now.text, patch, done)
  return text === undefined ? undefined : textState(text, now)
}
