import type { Snapshot } from '../changes/detect/work-tree.ts'
import { isFinalStatus } from '../conversation/entries/tool-call.ts'
import type { Entry, ToolCallEntry } from '../conversation/state.ts'

/** Kinds of tools that don't change files. */
const HARMLESS = new Set<ToolCallEntry['toolKind']>(['read', 'search', 'fetch', 'think'])
/** Kinds of tools that change the files they name. */
export const CHANGING = new Set<ToolCallEntry['toolKind']>(['edit', 'delete', 'move'])

/** A turn whose changes are detected: which effects its tool calls may have had, and which files the user saved meanwhile. */
export class DetectedTurn {
  /** number of the turn in the conversation */
  readonly number: number
  /** a moment before the turn, in milliseconds since the epoch: files that the turn writes aren't older, by any clock */
  readonly began: number
  /** the folders before the turn */
  readonly before: Promise<Snapshot>
  /** the next turn, if it began before the changes of this turn were found */
  next: DetectedTurn | undefined
  /** some tool call may have changed files */
  worked: boolean
  /** some tool call named no file, such as a command */
  ran: boolean
  /** some tool calls may have run Git */
  ranGit: boolean
  readonly #saved: string[] = []
  #accepted: Promise<unknown> = Promise.resolve()

  /** `earlier`: a turn whose background work may still run. */
  constructor(number: number, began: number, before: Promise<Snapshot>, earlier?: DetectedTurn) {
    this.number = number
    this.began = began
    this.before = before
    this.worked = earlier?.worked ?? false
    this.ran = earlier?.ran ?? false
    this.ranGit = earlier?.ranGit ?? false
  }

  /** Resolves when `before` contains the files that the user saved so far. */
  get accepted(): Promise<unknown> {
    return this.#accepted
  }

  /** Notes which effects a tool call may have had. Returns whether the call has ended, so that its changes can be detected. */
  note(entry: Entry | undefined): boolean {
    if (entry?.kind !== 'tool_call' || HARMLESS.has(entry.toolKind)) return false
    this.worked = true
    if (!CHANGING.has(entry.toolKind)) {
      this.ran = true
      this.ranGit ||= mayRunGit(entry)
    }
    return isFinalStatus(entry.status)
  }

  /** Notes that the user saved a file. `accepted` resolves when `before` contains the saved content; it doesn't reject. */
  save(file: string, accepted: Promise<unknown>): void {
    this.#saved.push(file)
    this.#accepted = Promise.all([this.#accepted, accepted])
  }

  /** Returns a function that tells whether the user saved a file since this call. */
  watchSaves(): (file: string) => boolean {
    const known = this.#saved.length
    return file => this.#saved.includes(file, known)
  }
}

/** Whether a tool call mentions Git, or doesn't say what it runs. */
function mayRunGit({ title, rawInput }: ToolCallEntry): boolean {
  return rawInput === undefined || /git|\bgh\b|\bjj\b/i.test(`${title} ${JSON.stringify(rawInput)}`)
}
