import { isDeepStrictEqual } from 'node:util'
import type { LaunchEnvironment } from '../../agents/launch-environment.ts'
import type { ProjectEnvironments } from '../../agents/project-environment/project-environments.ts'
import { type EnvironmentChanges, isToolState } from '../../agents/project-environment/project-tools.ts'
import type { EnvironmentNote } from '../../bridge/conversation.ts'
import { DisposableStore, Owner } from '../../common/disposable.ts'
import { Emitter } from '../../common/event.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'

interface Started {
  folder: string
  /** `undefined` if an earlier window started the agent */
  changes: readonly EnvironmentChanges[] | undefined
}

type Projects = Pick<
  ProjectEnvironments,
  'known' | 'environmentFor' | 'of' | 'mayDiffer' | 'dismiss' | 'slowTool' | 'onDidChange' | 'onDidChangeSlow'
>

/**
 * The project environments of agents and sessions. One agent process serves all of its sessions, so its environment is that of the folder
 * where it started. Commands in terminals have the current environment of their session's folder.
 */
export class AgentEnvironments extends Owner {
  readonly #projects: Projects
  readonly #change = this.register(new Emitter<void>())
  readonly #started = new Map<string, Started>()
  /** by agent: the folder whose environment the agent's start waits for */
  readonly #awaited = new Map<string, string>()
  readonly #followed = new WeakSet<OpenSession>()
  /** by folder: the descriptions of the problems that sessions already show */
  readonly #reported = new Map<string, Set<string>>()

  readonly onDidChange = this.#change.event

  constructor(projects: Projects) {
    super()
    this.#projects = projects
    this.register(projects.onDidChange(() => this.#change.fire()))
    this.register(projects.onDidChangeSlow(() => this.#change.fire()))
  }

  /** Resolves to the environment in which the agent, or a command of its sessions, starts in a folder. */
  async environmentFor(agentId: string, folder: string): Promise<LaunchEnvironment> {
    this.#awaited.set(agentId, folder)
    try {
      return await this.#projects.environmentFor(folder, true)
    } finally {
      this.#awaited.delete(agentId)
    }
  }

  /** Returns the tool for which the agent's start has been waiting for a while. */
  slowTool(agentId: string): string | undefined {
    const folder = this.#awaited.get(agentId)
    return folder === undefined ? undefined : this.#projects.slowTool(folder)
  }

  /**
   * Returns a function to call once the agent runs. Call this when the agent starts in a folder, with the environment that the folder's
   * project has now.
   */
  starting(agentId: string, folder: string): () => void {
    const { changes } = this.#projects.known(folder)
    return () => {
      this.#started.set(agentId, { folder, changes })
      this.#change.fire()
    }
  }

  /** Notes that an agent that an earlier window started in a folder continues. */
  continued(agentId: string, folder: string): void {
    if (this.#started.has(agentId)) return
    this.#started.set(agentId, { folder, changes: undefined })
    this.#change.fire()
  }

  /** Returns the environment to show for a session in `folder`; `undefined` if the folder's project adds nothing. */
  note(agentId: string, folder: string): EnvironmentNote | undefined {
    const { tools, changes } = this.#projects.known(folder)
    if (tools.length === 0) return undefined
    const started = this.#started.get(agentId)
    const isOther = started && !isDeepStrictEqual(started.changes, changes)
    return {
      tools: tools.map(({ tool, names }) => ({ tool, names: [...names] })),
      ...(isOther && started.folder !== folder && { agentFolder: started.folder }),
    }
  }

  /** Whether the agent would start with a different environment now. */
  isOutdated(agentId: string): boolean {
    const started = this.#started.get(agentId)
    if (!started) return false
    if (this.#projects.mayDiffer(started.folder)) return true
    if (!started.changes) return false
    const { changes, problems } = this.#projects.known(started.folder)
    // while the project has a problem, a restarted agent would lose variables that it has now
    return problems.length === 0 && !isDeepStrictEqual(valuesOf(started.changes), valuesOf(changes))
  }

  /** Hides that the agent's environment is outdated, because the user has seen it. */
  dismiss(agentId: string): void {
    const started = this.#started.get(agentId)
    if (!started) return
    this.#projects.dismiss(started.folder)
    if (started.changes) this.starting(agentId, started.folder)()
  }

  /** Shows a notice in sessions, once for each folder and problem, if an environment can't be used. */
  follow(manager: Pick<SessionManager, 'list' | 'onDidChange'>): void {
    const review = () => {
      for (const open of manager.list()) {
        if (this.#followed.has(open)) continue
        this.#followed.add(open)
        void this.#opened(open)
      }
    }
    this.register(manager.onDidChange(review))
    this.register(
      this.#projects.onDidChange(folder => {
        const isIn = (open: OpenSession) => this.#foldersOf(open).includes(folder)
        const open = manager.list().find(one => one.session.phase === 'ready' && isIn(one))
        if (open) this.#tell(open)
      }),
    )
    review()
  }

  async #opened(open: OpenSession): Promise<void> {
    const { session } = open
    await Promise.all(this.#foldersOf(open).map(folder => this.#projects.of(folder)))
    if (session.phase !== 'loading') return this.#tell(open)
    const waiting = this.register(new DisposableStore())
    waiting.add(
      session.onDidChangeStatus(() => {
        if (session.phase === 'loading') return
        this.owned.release(waiting)
        this.#tell(open)
      }),
    )
  }

  /** Returns the session's own folder, and the folder in which its agent started. */
  #foldersOf({ agentId, plan }: OpenSession): string[] {
    const started = this.#started.get(agentId)
    return [...new Set([plan.setup.cwd, ...(started ? [started.folder] : [])])]
  }

  #tell(open: OpenSession): void {
    const { session } = open
    if (session.phase !== 'ready') return
    for (const folder of this.#foldersOf(open)) {
      const { problems } = this.#projects.known(folder)
      const reported = this.#reported.get(folder) ?? new Set()
      // a problem that returns after it was solved is reported again
      this.#reported.set(folder, new Set(problems.map(({ description }) => description)))
      for (const { title, description } of problems.filter(one => !reported.has(one.description)))
        session.notify({ severity: 'warning', title, description })
    }
  }
}

/** Merges the changes, without the variables in which tools only store their own state. */
function valuesOf(changes: readonly EnvironmentChanges[]): EnvironmentChanges {
  const all = Object.entries(Object.assign({}, ...changes) as EnvironmentChanges)
  return Object.fromEntries(all.filter(([name]) => !isToolState(name)))
}
