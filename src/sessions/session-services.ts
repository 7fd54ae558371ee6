import { basename } from 'node:path'
import * as l10n from '@vscode/l10n'
import type {
  CreateTerminalRequest,
  FileChange,
  PermissionRequest,
  ReadTextFileRequest,
  Roots,
  WriteTextFileRequest,
} from '../acp/model.ts'
import type { SessionChanges } from '../changes/session-changes.ts'
import { withTimeout } from '../common/async.ts'
import { Owner } from '../common/disposable.ts'
import { Emitter, type Event } from '../common/event.ts'
import type { KeyValueStore } from '../common/key-value-store.ts'
import { RULE_CHECK_MS } from '../common/limits.ts'
import { isElsewhere } from '../common/path-mapping.ts'
import { writtenText } from '../conversation/entries/edit-input.ts'
import { hasDiff } from '../conversation/entries/tool-call.ts'
import type { Session } from '../conversation/session.ts'
import type { CompletePermission } from '../conversation/state.ts'
import { writtenChange } from '../editor/diff-texts.ts'
import type { AskMerge } from '../editor/files/agent-write.ts'
import { type AccessQuestion, type AskAccess, type FilesShared, SessionFiles } from '../editor/files/files.ts'
import type { PathRules } from '../editor/path-rules.ts'
import {
  changesBehavior,
  SessionTerminals,
  type SessionTerminalsOptions,
} from '../editor/terminals/terminals.ts'
import { AnsweredPermissions, subagentRoots } from './answered-permissions.ts'

/** Objects that all sessions of the window share. */
export interface ServicesShared {
  files: FilesShared
  /** Fires when the user saved a file in the editor. Without this event, files changed by commands aren't reported. */
  onDidSave?: Event<string>
  /** Resolves to the base environment of commands in a folder: the login shell's variables, and those that the folder's project sets. */
  environment: (folder: string) => Promise<Record<string, string>>
  /** Stores the state of turns that continue without this window, for the next window. */
  turns?: KeyValueStore
  /** Ends running commands if this process dies without having ended them. */
  guard?: SessionTerminalsOptions['guard']
}

interface SubagentFiles {
  /** the roots as text; a change requires a new service */
  key: string
  cwd: string
  files: SessionFiles
}

/** The services of a session's agent in the editor: access files and run commands in its roots. */
export class SessionServices extends Owner {
  readonly terminals: SessionTerminals
  readonly #shared: ServicesShared
  readonly #session: Session
  readonly #roots: Roots
  readonly #changes: SessionChanges
  readonly #answered: AnsweredPermissions
  readonly #files: SessionFiles
  /** by path of a file: the last turn in which the user was notified that an editor has unsaved changes of this file */
  readonly #unsaved = new Map<string, number>()
  /** by the id of a subagent's session */
  readonly #subagents = new Map<string, SubagentFiles>()
  readonly #write = this.register(new Emitter<string>())

  /** Fires with the absolute path of a file when the agent has written it through the client. */
  readonly onDidWrite: Event<string> = this.#write.event

  constructor(shared: ServicesShared, session: Session, roots: Roots, changes: SessionChanges) {
    super()
    this.#shared = shared
    this.#session = session
    this.#roots = roots
    this.#changes = changes
    this.#answered = this.register(new AnsweredPermissions(session, shared.files.rules))
    this.#files = this.register(this.#createFiles(roots))
    this.terminals = this.register(
      new SessionTerminals({
        ...{ cwd: roots.cwd, guard: shared.guard },
        env: () => shared.environment(roots.cwd),
        encoding: () => shared.files.encodings.configured(roots.cwd),
        host: session.agent.hosted?.commandsOf(session.sessionId),
      }),
    )
    this.register(
      this.terminals.onUpdate(update => {
        if (update.type === 'terminal' || update.type === 'terminal_output')
          session.conversation.applyLocal(update)
      }),
    )
  }

  /** Resolves to the text of a file for the session's agent, or for a subagent of the session. */
  async readTextFile(request: ReadTextFileRequest, signal?: AbortSignal): Promise<string> {
    this.#requireHere(request.sessionId, request.path)
    return this.filesOf(request.sessionId).readTextFile(request, signal)
  }

  /** Returns the files of the session, or of a subagent of the session. */
  filesOf(sessionId: string): SessionFiles {
    return this.#subagentFiles(sessionId)?.files ?? this.#files
  }

  /** Throws if the path belongs to the agent's machine: the same path on this machine is another file. */
  #requireHere(sessionId: string, path: string): void {
    const cwd = this.#subagentFiles(sessionId)?.cwd ?? this.#roots.cwd
    if (isElsewhere(this.#session.agent.capabilities.pathMappings, path, cwd))
      throw new Error(`${path} isn't in a folder that both machines have.`)
  }

  /** Tracks the file before the agent writes it. */
  async writeTextFile(request: WriteTextFileRequest, signal?: AbortSignal): Promise<void> {
    this.#requireHere(request.sessionId, request.path)
    const cwd = this.#subagentFiles(request.sessionId)?.cwd ?? this.#roots.cwd
    const path = this.#shared.files.rules.absolute(cwd, request.path)
    const files = this.filesOf(request.sessionId)
    const { hasUserLines } = await this.#changes.writing(path, request.content, tracked =>
      files.writeTextFile({ ...request, path }, signal, tracked),
    )
    this.#write.fire(path)
    if (hasUserLines)
      throw new Error(
        `${request.path} was written, except for lines in which the editor has unsaved changes: the user kept those. Read the file again before you change it.`,
      )
  }

  /** Starts a command, in the folder of the session or of the subagent that requests it. */
  async createTerminal(request: CreateTerminalRequest): Promise<{ terminalId: string }> {
    this.#requireHere(request.sessionId, request.cwd || '.')
    const subagent = this.#subagentFiles(request.sessionId)
    await this.#checkEnvironment(request)
    await this.#changes.begun
    if (!subagent) return this.terminals.create(request)
    const cwd = this.#shared.files.rules.absolute(subagent.cwd, request.cwd || '.')
    return this.terminals.create({ ...request, cwd })
  }

  /** Ends the session: commands get time to exit before they are killed. `dispose` doesn't wait. */
  async end(): Promise<void> {
    this.#files.dispose()
    for (const { files } of this.#subagents.values()) files.dispose()
    await this.terminals.endSession()
    this.dispose()
  }

  override dispose(): void {
    for (const { files } of this.#subagents.values()) files.dispose()
    super.dispose()
  }

  /** `within`: roots that must also contain a file, since an agent must not gain access to more folders by starting a subagent. */
  #createFiles(roots: Roots, within?: Roots): SessionFiles {
    return new SessionFiles(this.#shared.files, {
      roots,
      ...(within && { within }),
      askAccess: askInConversation(this.#session, roots, this.#shared.files.rules),
      askMerge: askMergeInConversation(this.#session),
      isAllowed: change => this.#answered.takeChange(change),
      onUnsaved: path => this.#tellUnsaved(path),
    })
  }

  /** Notifies the user of a file's unsaved changes, once in a turn. */
  #tellUnsaved(path: string): void {
    const { turn } = this.#session.state
    if (this.#unsaved.get(path) === turn) return
    this.#unsaved.set(path, turn)
    this.#session.notify({
      severity: 'warning',
      title: l10n.t('{0} has unsaved changes', basename(path)),
      description: l10n.t(
        "The agent can't read or write the file, because its notebook or custom editor has changes that aren't on disk. Save or revert them, and then tell the agent to continue.",
      ),
      files: [path],
    })
  }

  #subagentFiles(sessionId: string): SubagentFiles | undefined {
    if (sessionId === this.#session.sessionId) return undefined
    const roots = subagentRoots(this.#session.conversation.state, sessionId, this.#roots, path =>
      this.#shared.files.rules.isAbsolute(path),
    )
    if (!roots) return undefined
    const key = JSON.stringify(roots)
    const known = this.#subagents.get(sessionId)
    if (known?.key === key) return known
    known?.files.dispose()
    const own = { key, cwd: roots.cwd, files: this.#createFiles(roots, this.#roots) }
    this.#subagents.set(sessionId, own)
    return own
  }

  /** Asks for permission if a rule allowed the command but the request sets variables, which the rule didn't consider. */
  async #checkEnvironment({ sessionId, command, args, env }: CreateTerminalRequest): Promise<void> {
    const changed = env.filter(({ name }) => changesBehavior(name))
    if (changed.length === 0 || !this.#answered.ruleAllowed(command, args)) return
    const variables = changed.map(({ name, value }) => `${name}=${value}`).join('\n')
    const allowed = await askOnce(this.#session, {
      sessionId,
      title: l10n.t('Allow running this command with a changed environment?'),
      description: l10n.t('A rule allowed the command without these variables:\n{0}', variables),
      subject: { type: 'command', command: [command, ...args].join(' ') },
    })
    if (!allowed) throw new Error('The user refused to run the command with a changed environment.')
  }
}

/** Adds a diff to a permission request to write a file if the agent reports only the file's new text. */
export function addWrittenChange(session: Session, roots: () => Roots, rules: PathRules): CompletePermission {
  return (request, tool) => {
    const { subject, sessionId } = request
    if (!tool || subject.type !== 'tool_call' || hasDiff(tool)) return undefined
    const written = writtenText(tool)
    if (!written) return undefined
    const around = roots()
    const isAbsolute = (path: string) => rules.isAbsolute(path)
    const own = subagentRoots(session.conversation.state, sessionId, around, isAbsolute) ?? around
    if (isElsewhere(session.agent.capabilities.pathMappings, written.path, own.cwd)) return undefined
    const complete = async () => {
      const path = rules.absolute(own.cwd, written.path)
      // a network drive may not answer
      const change = await withTimeout(writtenChange(path, written.text, around), RULE_CHECK_MS)
      const unread: FileChange = { operation: 'modify', path, newText: written.text }
      const diff = { type: 'diff' as const, changes: [{ ...(change ?? unread), path: written.path }] }
      const toolCall = { ...subject.toolCall, content: [...tool.content, diff] }
      return { ...request, subject: { ...subject, toolCall } }
    }
    // fails, for example, if no file can have the path
    return complete().catch(() => request)
  }
}

/** Maximum number of places, and of lines in each place, that a question about unsaved changes shows. */
const MAX_PLACES = 3
const MAX_SHOWN_LINES = 6

/** Returns a function that asks in the conversation whether to keep the user's or the agent's lines. */
function askMergeInConversation(session: Session): AskMerge {
  return async ({ path, realPath, conflicts }, signal) => {
    const places = conflicts
      .slice(0, MAX_PLACES)
      .map(({ line, mine, theirs }) =>
        l10n.t("Line {0}\nYours:\n{1}\nThe agent's:\n{2}", line, shownLines(mine), shownLines(theirs)),
      )
    const more = conflicts.length - places.length
    const leads = realPath === path ? path : l10n.t('{0}\nLinks to {1}', path, realPath)
    const outcome = await session.requests.askUser(
      {
        sessionId: session.sessionId,
        title: l10n.t('Replace your unsaved changes in {0}?', basename(path)),
        description: [leads, ...places, ...(more > 0 ? [l10n.t('…and {0} more', more)] : [])].join('\n\n'),
        subject: { type: 'none' },
        options: [
          { optionId: 'mine', name: l10n.t('Keep my lines'), kind: 'allow_once' },
          { optionId: 'theirs', name: l10n.t("Use the agent's lines"), kind: 'allow_once' },
          { optionId: 'refuse', name: l10n.t('Reject'), kind: 'reject_once' },
        ],
        isChoice: true,
      },
      signal,
    )
    if (outcome.type === 'cancelled') return 'refuse'
    return outcome.optionId === 'mine' || outcome.optionId === 'theirs' ? outcome.optionId : 'refuse'
  }
}

function shownLines(text: string): string {
  const lines = text.split(/\r?\n/).filter((line, i, all) => line !== '' || i < all.length - 1)
  if (lines.length === 0) return l10n.t('(deleted)')
  const shown = lines.slice(0, MAX_SHOWN_LINES).map(line => `    ${line.slice(0, 200)}`)
  return [...shown, ...(lines.length > shown.length ? ['    …'] : [])].join('\n')
}

/** Returns a function that requests permission for a file in the conversation, like any other permission. */
function askInConversation(session: Session, { cwd }: Roots, rules: PathRules): AskAccess {
  return async (question, signal) => {
    const { path, realPath, reason } = question
    const name = reason === 'protected' && rules.contains(cwd, path) ? rules.relative(cwd, path) : path
    const leads = realPath === path ? name : l10n.t('{0}\nLinks to {1}', name, realPath)
    const outcome = await session.requests.askUser(
      {
        sessionId: session.sessionId,
        title: accessTitle(question),
        description:
          reason === 'protected'
            ? `${leads}\n\n${l10n.t('This file controls which programs run or what agents can do.')}`
            : leads,
        subject: { type: 'none' },
        options: [
          { optionId: 'once', name: l10n.t('Allow once'), kind: 'allow_once' },
          ...(reason === 'outside'
            ? [
                {
                  optionId: 'session',
                  name: l10n.t('Allow for this session'),
                  kind: 'allow_always' as const,
                },
              ]
            : []),
          { optionId: 'refuse', name: l10n.t('Reject'), kind: 'reject_once' },
        ],
      },
      signal,
    )
    if (outcome.type === 'cancelled') return 'refuse'
    return outcome.optionId === 'once' || outcome.optionId === 'session' ? outcome.optionId : 'refuse'
  }
}

function accessTitle({ operation, reason }: AccessQuestion): string {
  if (reason === 'protected') return l10n.t('Allow writing a protected file?')
  return operation === 'read'
    ? l10n.t("Allow reading a file outside this session's folders?")
    : l10n.t("Allow writing a file outside this session's folders?")
}

async function askOnce(session: Session, request: Omit<PermissionRequest, 'options'>): Promise<boolean> {
  const outcome = await session.requests.askUser(
    {
      ...request,
      options: [
        { optionId: 'once', name: l10n.t('Allow once'), kind: 'allow_once' },
        { optionId: 'refuse', name: l10n.t('Reject'), kind: 'reject_once' },
      ],
    },
    new AbortController().signal,
  )
  return outcome.type === 'selected' && outcome.optionId === 'once'
}
