import type { SessionUpdate } from '../acp/model.ts'
import type { Disposable } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { LocalEvent } from './reducer/reduce-local.ts'
import { reduceLocalWithin, reduceWithin } from './reducer/reduce-within.ts'
import type { ReducingState } from './reducer/reducing-state.ts'
import { followState, restoreState, type SavedConversation } from './replay/restore-state.ts'
import type { Change, EntryId, NoticeEntry } from './state.ts'

/** The conversation of a session. Only this class changes the conversation's state and reports the changes. */
export class ConversationState implements Disposable {
  readonly #changes = new Emitter<Change[]>()
  readonly #time: () => number | undefined
  #state: ReducingState
  #givenTitle: string | undefined
  /** the changes to report together, while `together` runs */
  #collected: Change[] | undefined

  /**
   * `time`: returns the time for local events, in milliseconds since the epoch; `undefined` during a replay, whose entries get no times.
   */
  constructor(state: ReducingState, time: () => number | undefined) {
    this.#state = state
    this.#time = time
  }

  get state(): ReducingState {
    return this.#state
  }

  /** Fires with the changes of `state` after they were made. A `reset` means that `state` is a new object. */
  get onDidChange(): Event<Change[]> {
    return this.#changes.event
  }

  /** The title that the user gave. Takes precedence over the agent's title, even after a load. */
  get givenTitle(): string | undefined {
    return this.#givenTitle
  }

  /** Sets the user's title; `undefined` shows the agent's title again. */
  giveTitle(title: string | undefined): void {
    if (this.#givenTitle === title) return
    this.#givenTitle = title
    this.report([{ type: 'head', key: 'title' }])
  }

  /** Applies an update of the agent. `within`: the id of the subagent's session that the update is for. */
  apply(update: SessionUpdate, time: number | undefined, within?: string): void {
    this.report(reduceWithin(this.#state, within, update, time))
  }

  /** Applies an event of the client's side. */
  applyLocal(event: LocalEvent): void {
    this.report(reduceLocalWithin(this.#state, event, this.#time()))
  }

  /** Adds a notice from Parley. */
  addNotice({ files, rewind, ...notice }: Omit<NoticeEntry, 'kind' | 'id' | 'turn'>): void {
    const changes = reduceWithin(this.#state, undefined, { type: 'notice', ...notice }, this.#time())
    const entry = this.#state.entries.at(-1)
    if (entry?.kind === 'notice') Object.assign(entry, { ...(files && { files }), ...(rewind && { rewind }) })
    this.report(changes)
  }

  /** Marks the rewind of a notice as undone by the user; `title` is the notice's new title. Returns false if the notice has no rewind. */
  withdrawRewind(id: EntryId, title: string): boolean {
    const entry = this.#state.entries[this.#state.index.get(id) ?? -1]
    if (entry?.kind !== 'notice' || !entry.rewind) return false
    entry.rewind = { ...entry.rewind, withdrawn: true }
    entry.title = title
    delete entry.description
    this.report([{ type: 'entry', id }])
    return true
  }

  /** Replaces the whole conversation, and reports a `reset`. */
  replace(state: ReducingState): void {
    this.#state = state
    this.report([{ type: 'reset' }])
  }

  /** Shows the latest saved state of a conversation that is open in another window. */
  follow(saved: SavedConversation): void {
    this.report(followState(this.#state, saved))
  }

  /**
   * Restores the last saved state, since no other window continues the conversation. A turn that was running in the other window is
   * interrupted.
   */
  catchUp(saved: SavedConversation): void {
    const { configOptions, commands } = this.#state
    this.replace(Object.assign(restoreState(saved), { configOptions, commands }))
  }

  /** Reports changes that were already made to the state. */
  report(changes: Change[]): void {
    if (this.#collected) for (const change of changes) this.#collected.push(change)
    else if (changes.length > 0) this.#changes.fire(changes)
  }

  /** Reports all changes of `work` together, so that no listener sees or answers a request in between. */
  together(work: () => void): void {
    if (this.#collected) {
      work()
      return
    }
    const changes: Change[] = []
    this.#collected = changes
    try {
      work()
    } finally {
      this.#collected = undefined
      this.report(changes)
    }
  }

  dispose(): void {
    this.#changes.dispose()
  }
}
