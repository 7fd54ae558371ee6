import type { FileChange, Roots } from '../acp/model.ts'
import { Owner } from '../common/disposable.ts'
import { SUBAGENT } from '../conversation/entries/subagent.ts'
import type { ReducingState } from '../conversation/reducer/reducing-state.ts'
import type { Session } from '../conversation/session.ts'
import type { PermissionEntry, ToolCallEntry } from '../conversation/state.ts'
import { positionsOf } from '../conversation/step.ts'
import { commandsOfInput } from '../conversation/tool-command.ts'
import { windowsScriptOf } from '../conversation/windows-script.ts'
import type { PathRules } from '../editor/path-rules.ts'

/** Maximum number of last entries in which a tool call is searched for. */
const MAX_BACK = 1000

/** The changes that the user allowed and the commands that rules allowed in a session, until the turn ends. */
export class AnsweredPermissions extends Owner {
  readonly #session: Session
  readonly #rules: PathRules
  readonly #seen = new Set<string>()
  /** by the key of an absolute path: changes that the user allowed and the agent hasn't made yet */
  readonly #changes = new Map<string, FileChange[]>()
  /** commands that a rule allowed */
  readonly #commands = new Set<string>()

  constructor(session: Session, rules: PathRules) {
    super()
    this.#session = session
    this.#rules = rules
    this.register(
      session.onDidChange(changes => {
        const { state } = session
        for (const change of changes) {
          if (change.type === 'reset') this.#clear()
          else if (change.type === 'head' && change.key === 'activity' && state.activity === 'idle')
            this.#clear()
          else if (change.type === 'entry') {
            const entry = state.entries[state.index.get(change.id) ?? -1]
            if (entry?.kind === 'permission' && entry.outcome && session.phase === 'ready') this.#note(entry)
          }
        }
      }),
    )
  }

  /** Whether the user has allowed exactly this change. Removes the permission, which is valid for one write. */
  takeChange({
    realPath,
    before,
    content,
  }: {
    realPath: string
    before: string | null
    content: string
  }): boolean {
    const key = this.#rules.key(realPath)
    const changes = this.#changes.get(key) ?? []
    const found = changes.findIndex(change => makes(change, before, content))
    if (found < 0) return false
    changes.splice(found, 1)
    return true
  }

  /** Whether a rule allowed the command during this turn. */
  ruleAllowed(command: string, args: readonly string[]): boolean {
    return this.#readCommands({ command, args }).some(line => this.#commands.has(line))
  }

  #readCommands(rawInput: unknown): string[] {
    return commandsOfInput(rawInput, this.#rules.platform === 'win32' ? windowsScriptOf : undefined).commands
  }

  #note(entry: PermissionEntry): void {
    const { requestId, outcome, options, rule } = entry
    if (this.#seen.has(requestId)) return
    this.#seen.add(requestId)
    if (outcome?.type !== 'selected') return
    const kind = options.find(({ optionId }) => optionId === outcome.optionId)?.kind
    if (!kind?.startsWith('allow')) return
    const tool = this.#findToolCall(entry)
    if (rule) {
      if (entry.command) this.#commands.add(entry.command.command)
      for (const command of this.#readCommands(tool?.rawInput)) this.#commands.add(command)
      return
    }
    for (const content of tool?.content ?? []) {
      if (content.type !== 'diff') continue
      for (const change of content.changes) this.#allow(change, entry.within)
    }
  }

  #allow(change: FileChange, within: string | undefined): void {
    const { conversation, setup } = this.#session
    const isAbsolute = (path: string) => this.#rules.isAbsolute(path)
    const roots =
      within === undefined ? undefined : subagentRoots(conversation.state, within, setup, isAbsolute)
    try {
      const key = this.#rules.key(this.#rules.absolute((roots ?? setup).cwd, change.path))
      this.#changes.set(key, [...(this.#changes.get(key) ?? []), change])
    } catch {
      // no file can have that path
    }
  }

  #findToolCall({ toolCallId, within }: PermissionEntry): ToolCallEntry | undefined {
    if (toolCallId === undefined) return undefined
    const { entries } = this.#session.state
    for (let at = entries.length - 1; at >= Math.max(0, entries.length - MAX_BACK); at--) {
      const entry = entries[at]
      if (entry?.kind === 'tool_call' && entry.toolCallId === toolCallId && entry.within === within)
        return entry
    }
    return undefined
  }

  #clear(): void {
    this.#changes.clear()
    this.#commands.clear()
  }
}

/** Whether a change results in `content`: as a whole file, or by replacing a fragment that occurs once. */
function makes({ operation, oldText, newText }: FileChange, before: string | null, content: string): boolean {
  if (operation === 'delete' || newText === undefined) return false
  const wanted = plain(content)
  const added = plain(newText)
  if (oldText === undefined || oldText === null || oldText === '') return added === wanted
  if (before === null) return false
  const [whole, piece] = [plain(before), plain(oldText)]
  if (whole === piece) return added === wanted
  const at = whole.indexOf(piece)
  if (at < 0 || whole.indexOf(piece, at + 1) >= 0) return false
  return `${whole.slice(0, at)}${added}${whole.slice(at + piece.length)}` === wanted
}

function plain(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(/^\ufeff/, '')
}

/**
 * Returns the folders that a subagent works in: its own folders, as far as the agent reported them, else the session's (`around`). Returns
 * `undefined` if the id isn't a subagent's.
 */
export function subagentRoots(
  state: ReducingState,
  sessionId: string,
  around: Roots,
  isAbsolute: (path: string) => boolean,
): Roots | undefined {
  for (const { memory } of [state, ...state.memory.subagentStates.values()]) {
    const entry = state.entries[positionsOf(memory, SUBAGENT).get(sessionId) ?? -1]
    if (entry?.kind !== 'subagent') continue
    const { cwd, additionalDirectories } = entry
    const own = cwd !== undefined && isAbsolute(cwd) ? cwd : undefined
    return {
      cwd: own ?? around.cwd,
      additionalDirectories:
        additionalDirectories?.filter(isAbsolute) ?? (own === undefined ? around.additionalDirectories : []),
    }
  }
  return undefined
}
