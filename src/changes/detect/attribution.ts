/** Finds the authors of changes on disk, from the running turns and the changes that their tool calls report. */
import { isDeepStrictEqual } from 'node:util'
import { isWithin } from '../../common/file-names.ts'
import { expectedText, originalText, othersPart } from '../../editor/diff-texts.ts'
import { sameButEnds } from '../../editor/text.ts'
import type { Moment } from '../model/change-time.ts'
import { type AgentAuthor, type Author, sharesTurn, type TurnRef } from '../model/change-versions.ts'
import {
  type Claim,
  type PastEdit,
  reportedText,
  type ToolChange,
  textBeforeDeletion,
} from '../model/file-past.ts'
import { FilePasts } from '../model/file-pasts.ts'
import { type FileState, textState } from '../model/file-state.ts'
import type { TrackedFile } from '../model/tracked-file.ts'
import type { ReadState } from './folder-scan.ts'
import {
  type Moved,
  movedSince,
  type RepositoryPosition,
  untilWritten,
  writtenByGit,
} from './repository-moves.ts'

export interface RunningTurn {
  author: AgentAuthor
  began: Moment
  /** Whether the agent may be changing files now. */
  isWorking: () => boolean
  covers: (path: string) => boolean
  /** Whether the agent itself may have run Git. */
  ranGit: () => boolean
  /** the repositories' positions when the turn started */
  repositories: Promise<RepositoryPosition[]>
}

/** A write through the client in progress. */
export interface ClientWrite {
  content: string
  /** the user's unsaved text before the editor got the agent's text */
  typed?: string
  /** Whether the editor has the agent's text, which it may format when it saves. */
  shown?: true
}

export class Attribution {
  /** the earlier states of files that running turns changed and may still report on */
  readonly pasts = new FilePasts()
  /** by session */
  readonly #turns = new Map<string, RunningTurn>()
  /** by the key of the file, as in the map below */
  readonly #claims = new Map<string, Claim[]>()
  readonly #writes = new Map<string, ClientWrite>()

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

  /** Stops attributing changes to the turn. Returns the keys of files about which no report is expected anymore. */
  endTurn(session: string, turn: RunningTurn): string[] {
    if (this.#turns.get(session) === turn) this.#turns.delete(session)
    // the session's next turn may have started meanwhile: keep what it has reported
    const isNext = this.#turns.has(session)
    const saved = this.pasts.forgetWhere(path => turn.covers(path) && !this.#isCovered(path))
    const isOver = (one: TurnRef) => turn.author.turns.some(over => over.turn === one.turn)
    const released = [...this.#claims].flatMap(([key, claims]) => {
      const unmatched = claims.filter(({ author }) =>
        author.turns.every(one => one.session !== session || (isNext && !isOver(one))),
      )
      return this.#setClaims(key, unmatched) ? [] : key
    })
    return [...released, ...saved]
  }

  #isCovered(path: string): boolean {
    return this.#turnsOf(path).length > 0
  }

  // ---- what tool calls report --------------------------------------------------------------------------------------

  /**
   * Whether an agent is writing the file through the client, or a tool call names the file or may report later a change that the user has
   * saved.
   */
  isAwaited(key: string): boolean {
    return this.#claims.has(key) || this.#writes.has(key) || this.pasts.hasSaved(key)
  }

  /** The write of this file through the client that is in progress. */
  clientWrite(key: string): ClientWrite | undefined {
    return this.#writes.get(key)
  }

  beginWrite(key: string, write: ClientWrite): void {
    this.#writes.set(key, write)
  }

  endWrite(key: string, write: ClientWrite): void {
    if (this.#writes.get(key) === write) this.#writes.delete(key)
  }

  /**
   * Marks the change that a tool call reports as made if the agent has made this change by writing `content` over `before` through the
   * client.
   */
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

  /** Forgets what a finished tool call reported. Returns false if no other tool call names the file. */
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

  /** Attributes the parts of a change that tool calls reported to these tool calls. Returns the parts. */
  applyClaims(key: string, file: TrackedFile, now: FileState): PastEdit[] {
    const claims = this.#claims.get(key) ?? []
    return claims.flatMap(claim => (claim.applied ? [] : this.#applyClaim(key, file, now, claim)))
  }

  #applyClaim(key: string, file: TrackedFile, now: FileState, claim: Claim): PastEdit[] {
    const { change, author } = claim
    if (!change) return []
    const edit = (state: FileState, by: Author, how: PastEdit['how']): PastEdit[] =>
      file.edit(state, by) ? [{ state, by, how }] : []
    if (change.operation === 'delete') {
      claim.applied = now.attributes.type === 'absent'
      return claim.applied ? edit(now, author, 'known') : []
    }
    const { attributes } = now
    if (attributes.type === 'absent') {
      const written = textBeforeDeletion(claim, file.state, this.pasts.texts(key))
      claim.applied = written !== undefined
      return written === undefined ? [] : edit({ ...file.state, text: written }, author, 'known')
    }
    if (attributes.type !== 'text') return []
    const expected = reportedText(claim, file.text, now.text)
    if (expected === undefined) return []
    const bare = (text: string) => text.replaceAll('\r\n', '\n').replace(/\n$/, '')
    const isAll = bare(expected) === bare(now.text)
    const others = isAll ? undefined : othersPart(file.text, expected, now.text)
    // the reported change isn't in the file yet, or can't be recognized
    if (others === now.text || (others === undefined && !isAll && !claim.begun)) return []
    claim.applied = true
    return edit(isAll ? now : { text: expected, attributes }, author, 'known')
  }

  /**
   * The author of a change that no tool call reported completely. `changed`: when the file changed at the latest, if known, in
   * milliseconds since the epoch.
   */
  authorOf(
    key: string,
    file: TrackedFile,
    now: FileState,
    { otherwise, isGits, changed }: { otherwise: Author; isGits: boolean; changed: number | undefined },
  ): Author {
    const isOpen = ({ change, patch }: Claim, text: string) =>
      change !== undefined && expectedText(change, text, patch) !== undefined
    const naming = this.#claims
      .get(key)
      ?.find(claim => claim.begun && !claim.applied && !isOpen(claim, file.text) && !isOpen(claim, now.text))
    if (naming) return naming.author
    if (isGits) return 'user'
    const isEarlier = ({ began }: RunningTurn) => changed !== undefined && began.isAfter(changed)
    const turns = this.workingTurns(file.path).filter(([, turn]) => !isEarlier(turn))
    if (turns.length === 0) return otherwise
    return { turns: turns.flatMap(([, { author }]) => author.turns), uncertain: true }
  }

  /** Whether Git wrote the file like this during a turn whose agent didn't run Git. */
  async isGits(path: string, now: FileState, stateWith: ReadState): Promise<boolean> {
    const turns = this.#turnsOf(path)
    if (turns.some(turn => turn.isWorking() && turn.ranGit())) return false
    for (const { position, moved } of await movesIn(turns, path))
      if ((await writtenByGit(position, moved, new Map([[path, now]]), stateWith)).has(path)) return true
    return false
  }

  /** Whether Git wrote to the work tree during a turn, no matter who ran Git: it may have restored changes that it had removed. */
  async hasGitMoved(path: string): Promise<boolean> {
    return (await movesIn(this.#turnsOf(path), path)).length > 0
  }

  #turnsOf(path: string): RunningTurn[] {
    return [...this.#turns.values()].filter(turn => turn.covers(path))
  }

  // ---- changes before their report ---------------------------------------------------------------------------------

  /**
   * Adds edits of a file that turns may be changing to its history. `original`: the tracked file before the edits, and `before` its copy
   * from that time.
   */
  note(
    key: string,
    original: TrackedFile,
    before: TrackedFile,
    file: TrackedFile,
    edits: readonly PastEdit[],
    isBehind = false,
  ): void {
    if (edits.length > 0 && this.#isCovered(file.path))
      this.pasts.add(key, original, before, file, edits, isBehind)
  }

  /** Attributes changes that were seen or saved before to a tool call that reports them now. Returns the corrected file, if any. */
  nameChanges(key: string, file: TrackedFile, now: FileState, toolCallId: string): TrackedFile | undefined {
    let current = file
    for (const claim of this.#claims.get(key) ?? []) {
      if (claim.toolCallId !== toolCallId || claim.applied) continue
      const named = this.pasts.name(key, claim, current, now)
      if (!named) continue
      current = named
      claim.applied = true
    }
    return current === file ? undefined : current
  }
}

/** Git's own writes in the file's repository since these turns started. */
async function movesIn(turns: readonly RunningTurn[], path: string) {
  const moves: Array<{ position: RepositoryPosition; moved: Moved }> = []
  for (const position of (await Promise.all(turns.map(turn => turn.repositories))).flat()) {
    if (!isWithin(position.top, path)) continue
    await untilWritten(position)
    const moved = await movedSince(position)
    if (moved) moves.push({ position, moved })
  }
  return moves
}

/** The file before a tool call whose changes aren't known yet; `undefined` if that is unknown. */
export function originalState(
  now: FileState,
  { change, patch, done, begun }: ToolChange,
): FileState | undefined {
  const { type } = now.attributes
  if (type !== 'text' && type !== 'absent') return done ? undefined : now
  if (!change) return done ? undefined : now
  // the file existed, and was deleted before it was read
  if (type === 'absent' && begun && change.operation === 'modify' && change.oldText) return undefined
  // the tool empties the file before it writes the new text, so the final text isn't known yet
  const isEmptied = begun && !done && type === 'text' && now.text === ''
  const isWritten = change.operation !== 'add' && change.operation !== 'delete'
  if (isEmptied && isWritten && change.oldText !== '') return undefined
  const text = originalText(change, type === 'absent' ? null : now.text, patch, done)
  return text === undefined ? undefined : textState(text, now)
}
