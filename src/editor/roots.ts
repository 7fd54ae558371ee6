/**
 * Which folders of the workspace a session works in: one is its working directory (`cwd`), the others go along as
 * additional directories when the agent can take them. What an agent does not see is said, with the reason.
 */
import * as l10n from '@vscode/l10n'
import type { Roots } from '../acp/model.ts'
import type { PathRules } from './path-rules.ts'

/** A folder of the workspace as the editor has it. `path` is the file-system path, meaningful for `file:` only. */
export interface WorkspaceRoot {
  name: string
  scheme: string
  path: string
}
export type WorkingDirectorySetting = 'ask' | 'activeEditor' | 'first'

/** A session's roots with what there is to say of them to the person. */
export interface RootsPlan {
  cwd: string
  /** the folder's name, or the path with `~` */
  cwdLabel: string
  /** Something the person should know of the cwd: it is outside of the workspace. */
  cwdRemark?: string
  additional: Array<{ path: string; label: string }>
  /** workspace folders that the agent does not see, and why */
  unseen: Array<{ label: string; reason: string }>
  /** No folder is open: the session works in a private scratch folder. */
  scratch: boolean
}

export interface RootsInput {
  folders: readonly WorkspaceRoot[]
  setting: WorkingDirectorySetting
  /** the active editor's file, when it is one on disk */
  activePath?: string
  /** the folder that the person picked, after {@link RootsDecision} asked for it */
  picked?: string
  /** the agent's `additionalDirectories` capability */
  additionalDirectories: boolean
  home: string
  rules: PathRules
}

export type RootsDecision =
  | { type: 'planned'; plan: RootsPlan }
  /** The person chooses one of these; then again, with `picked`. */
  | { type: 'pick'; choices: WorkspaceRoot[] }
  /** No folder can be a root: make a scratch folder and go on with {@link rootsForScratch}. */
  | { type: 'scratch'; unseen: RootsPlan['unseen'] }

/** The roots of a new session. */
export function planRoots(input: RootsInput): RootsDecision {
  const { usable, unseen } = sortFolders(input)
  const first = usable[0]
  if (!first) return { type: 'scratch', unseen }
  let cwd: WorkspaceRoot | undefined
  if (usable.length > 1) {
    const { picked } = input
    if (picked !== undefined) cwd = usable.find(folder => input.rules.same(folder.path, picked))
    if (!cwd && input.setting === 'ask') return { type: 'pick', choices: usable }
    if (!cwd && input.setting === 'activeEditor') cwd = innermost(usable, input.activePath, input.rules)
  }
  cwd ??= first
  const others = usable.filter(folder => folder !== cwd)
  return { type: 'planned', plan: assemble(input, { path: cwd.path, label: cwd.name }, others, unseen) }
}

/**
 * The roots of a session that already has a cwd: that is kept, the workspace's other folders go along. Throws when
 * the cwd is not absolute, since agents take a relative one and go wrong later.
 */
export function rootsForExisting(
  sessionCwd: string,
  input: Pick<RootsInput, 'folders' | 'additionalDirectories' | 'home' | 'rules'> & {
    scratchFolder?: string
  },
): RootsPlan {
  const { rules } = input
  if (!rules.isAbsolute(sessionCwd)) {
    throw new Error(
      l10n.t(
        "The session's working directory {0} is not an absolute path, so it cannot be opened.",
        JSON.stringify(sessionCwd),
      ),
    )
  }
  const cwd = rules.normalize(sessionCwd)
  const { usable, unseen } = sortFolders(input)
  const own = usable.find(folder => rules.same(folder.path, cwd))
  const around = own ?? innermost(usable, cwd, rules)
  const label = own?.name ?? tilde(cwd, input.home, rules)
  const plan = assemble(
    input,
    // The agent compares the cwd letter by letter with the one it stored, so it is sent as the agent told it.
    { path: own ? own.path : cwd, label },
    usable.filter(folder => folder !== own),
    unseen,
  )
  plan.cwd = sessionCwd
  if (input.scratchFolder !== undefined && rules.same(input.scratchFolder, cwd)) {
    plan.cwdLabel = l10n.t('Scratch folder')
    plan.scratch = true
  } else if (!around)
    plan.cwdRemark = l10n.t('This session works in a folder that is not open in this window.')
  return plan
}

/** The roots of a session without a folder. */
export function rootsForScratch(scratchFolder: string, unseen: RootsPlan['unseen']): RootsPlan {
  return { cwd: scratchFolder, cwdLabel: l10n.t('Scratch folder'), additional: [], unseen, scratch: true }
}

/** What goes to the agent. */
export function rootsOf(plan: RootsPlan): Roots {
  return { cwd: plan.cwd, additionalDirectories: plan.additional.map(folder => folder.path) }
}

/** Only folders on this machine's disk can be roots; each once. */
function sortFolders(input: Pick<RootsInput, 'folders' | 'rules'>): {
  usable: WorkspaceRoot[]
  unseen: RootsPlan['unseen']
} {
  const usable = new Map<string, WorkspaceRoot>()
  const unseen: RootsPlan['unseen'] = []
  for (const folder of input.folders) {
    if (folder.scheme !== 'file') {
      unseen.push({
        label: folder.name,
        reason: l10n.t("It is not on this machine's disk ({0}:).", folder.scheme),
      })
    } else if (!input.rules.isAbsolute(folder.path)) {
      unseen.push({ label: folder.name, reason: l10n.t('It has no absolute path.') })
    } else {
      const path = input.rules.normalize(folder.path)
      const key = input.rules.key(path)
      if (!usable.has(key)) usable.set(key, { ...folder, path })
    }
  }
  return { usable: [...usable.values()], unseen }
}

/** The deepest folder that holds the path: a workspace may hold a folder and one inside of it. */
function innermost(
  folders: readonly WorkspaceRoot[],
  path: string | undefined,
  rules: PathRules,
): WorkspaceRoot | undefined {
  if (path === undefined) return undefined
  let best: WorkspaceRoot | undefined
  for (const folder of folders) {
    if (rules.contains(folder.path, path) && (!best || folder.path.length > best.path.length)) best = folder
  }
  return best
}

function assemble(
  input: Pick<RootsInput, 'additionalDirectories' | 'rules'>,
  cwd: { path: string; label: string },
  others: readonly WorkspaceRoot[],
  unseen: RootsPlan['unseen'],
): RootsPlan {
  const plan: RootsPlan = {
    cwd: cwd.path,
    cwdLabel: cwd.label,
    additional: [],
    unseen: [...unseen],
    scratch: false,
  }
  for (const folder of others) {
    if (input.rules.same(folder.path, cwd.path)) continue
    if (input.additionalDirectories) plan.additional.push({ path: folder.path, label: folder.name })
    else if (!input.rules.contains(cwd.path, folder.path)) {
      plan.unseen.push({
        label: folder.name,
        reason: l10n.t('The agent cannot work in more than one folder.'),
      })
    }
  }
  return plan
}

function tilde(path: string, home: string, rules: PathRules): string {
  if (!home || !rules.contains(home, path)) return path
  const rest = rules.relative(home, path)
  return rest === '' ? '~' : rules.platform === 'win32' ? `~\\${rest}` : `~/${rest}`
}
