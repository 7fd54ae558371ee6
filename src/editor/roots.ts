/**
 * Determines in which folders of the workspace a session works: one is its working directory (`cwd`), the others are additional directories
 * if the agent supports them. Folders that the agent can't see are reported with the reason.
 */

import { chmod, lstat, mkdir } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { Roots } from '../acp/model.ts'
import { hasFileModes } from '../common/platform.ts'
import type { RootsPlan } from '../common/roots-plan.ts'
import type { SettingValue } from '../common/settings.ts'
import type { FolderComparison } from './folder-comparison.ts'
import type { PathRules } from './path-rules.ts'

/** A workspace folder of the editor. `path` is the file system path, only valid for `file:` URIs. */
export interface WorkspaceRoot {
  name: string
  scheme: string
  path: string
}

export interface RootsInput {
  folders: readonly WorkspaceRoot[]
  setting: SettingValue<'workingDirectory'>
  /** the active editor's file, if it's on disk */
  activePath?: string
  /** the folder that the user picked, if {@link RootsDecision} required it */
  picked?: string
  /** the agent's `additionalDirectories` capability */
  additionalDirectories: boolean
  home: string
  rules: PathRules
  /** compares the folders, `activePath` and a session's own directories by real path */
  compare: FolderComparison
}

export type RootsDecision =
  | { type: 'planned'; plan: RootsPlan }
  /** The user must choose one of these folders; then call {@link planRoots} again with `picked`. */
  | { type: 'pick'; choices: WorkspaceRoot[] }
  /** No folder can be a root: create a scratch folder and continue with {@link rootsForScratch}. */
  | { type: 'scratch'; unseen: RootsPlan['unseen'] }

/** Returns the roots of a new session. */
export function planRoots(input: RootsInput): RootsDecision {
  const { usable, unseen } = sortFolders(input)
  const first = usable[0]
  if (!first) return { type: 'scratch', unseen }
  let cwd: WorkspaceRoot | undefined
  if (usable.length > 1) {
    const { picked } = input
    if (picked !== undefined) cwd = usable.find(folder => input.compare.same(folder.path, picked))
    if (!cwd && input.setting === 'ask') return { type: 'pick', choices: usable }
    if (!cwd && input.setting === 'activeEditor') cwd = innermost(usable, input.activePath, input.compare)
  }
  cwd ??= first
  const others = usable.filter(folder => folder !== cwd)
  return { type: 'planned', plan: assemble(input, { path: cwd.path, label: cwd.name }, others, unseen) }
}

type ExistingInput = Pick<RootsInput, 'folders' | 'additionalDirectories' | 'home' | 'rules' | 'compare'> & {
  scratchFolder?: string
  /** the root of the worktree that the cwd is in, if it isn't open in this window */
  worktree?: string
}

/**
 * Returns the roots of an existing session: its own roots, and this window's folders if the session works in one of the workspace's
 * folders. Throws like `rootsIn`.
 */
export function rootsForExisting(
  own: { cwd: string; additionalDirectories: readonly string[] },
  input: ExistingInput,
): RootsPlan {
  const { rules, compare, folders } = input
  const dirs = own.additionalDirectories.filter(directory => rules.isAbsolute(directory))
  const { usable } = sortFolders(input)
  const belongs = usable.some(({ path }) => [own.cwd, ...dirs].some(one => compare.contains(path, one)))
  const plan = rootsIn(own.cwd, { ...input, folders: belongs ? folders : [] })
  const mine = (path: string) => dirs.some(one => compare.same(one, path))
  const added = plan.additional.map(folder =>
    mine(folder.path) ? folder : { ...folder, added: true as const },
  )
  const others = dirs.filter(
    one => !compare.same(one, plan.cwd) && !plan.additional.some(({ path }) => compare.same(path, one)),
  )
  const label = (path: string) => tilde(path, input.home, rules)
  if (input.additionalDirectories) {
    plan.additional = [...added, ...others.map(path => ({ path, label: label(path) }))]
  } else {
    const reason = l10n.t("The agent can't work in more than one folder.")
    for (const path of others) {
      if (!compare.contains(plan.cwd, path)) plan.unseen.push({ label: label(path), reason })
    }
  }
  if (belongs) return plan
  for (const { name } of usable) {
    plan.unseen.push({ label: name, reason: l10n.t('The session belongs to another workspace.') })
  }
  return plan
}

/**
 * Returns the roots of a session with a given cwd: the cwd, and the workspace's other folders.
 * @throws if the cwd isn't absolute: agents would accept it and fail later
 */
export function rootsIn(sessionCwd: string, input: ExistingInput): RootsPlan {
  const { rules, compare } = input
  if (!rules.isAbsolute(sessionCwd)) {
    throw new Error(
      l10n.t(
        "The session can't be opened. Its working directory {0} isn't an absolute path.",
        JSON.stringify(sessionCwd),
      ),
    )
  }
  const cwd = rules.normalize(sessionCwd)
  const { usable, unseen } = sortFolders(input)
  const own = usable.find(folder => compare.same(folder.path, cwd))
  const around = own ?? innermost(usable, cwd, compare)
  const label = own?.name ?? tilde(cwd, input.home, rules)
  const plan = assemble(
    input,
    // The agent compares the cwd exactly with its stored cwd, so send it as the agent reported it.
    { path: own ? own.path : cwd, label },
    usable.filter(folder => folder !== own),
    unseen,
  )
  plan.cwd = sessionCwd
  if (input.scratchFolder !== undefined && compare.same(input.scratchFolder, cwd)) {
    plan.cwdLabel = l10n.t('Scratch folder')
    plan.scratch = true
  } else if (input.worktree !== undefined) {
    plan.cwdLabel = [
      rules.basename(input.worktree),
      ...rules.names(rules.relative(input.worktree, compare.real(cwd))),
    ].join('/')
  } else if (!around) plan.cwdRemark = l10n.t("This session's working directory isn't open in this window.")
  return plan
}

/** Returns the roots of a session without a folder. */
export function rootsForScratch(scratchFolder: string, unseen: RootsPlan['unseen']): RootsPlan {
  return { cwd: scratchFolder, cwdLabel: l10n.t('Scratch folder'), additional: [], unseen, scratch: true }
}

/** Returns the roots in the form in which they are sent to the agent. */
export function rootsOf(plan: RootsPlan): Roots {
  return { cwd: plan.cwd, additionalDirectories: plan.additional.map(folder => folder.path) }
}

/** Separates the folders that can be roots, without duplicates: those on this machine's disk. */
function sortFolders(input: Pick<RootsInput, 'folders' | 'rules' | 'compare'>): {
  usable: WorkspaceRoot[]
  unseen: RootsPlan['unseen']
} {
  const usable: WorkspaceRoot[] = []
  const unseen: RootsPlan['unseen'] = []
  for (const folder of input.folders) {
    if (folder.scheme !== 'file') {
      unseen.push({
        label: folder.name,
        reason: l10n.t("The folder isn't on this machine's disk ({0}:).", folder.scheme),
      })
    } else if (!input.rules.isAbsolute(folder.path)) {
      unseen.push({ label: folder.name, reason: l10n.t('The folder has no absolute path.') })
    } else {
      const path = input.rules.normalize(folder.path)
      if (!usable.some(one => input.compare.same(one.path, path))) usable.push({ ...folder, path })
    }
  }
  return { usable, unseen }
}

/** Returns the deepest folder that contains the path, since a workspace may contain nested folders. */
function innermost(
  folders: readonly WorkspaceRoot[],
  path: string | undefined,
  compare: FolderComparison,
): WorkspaceRoot | undefined {
  if (path === undefined) return undefined
  let best: WorkspaceRoot | undefined
  for (const folder of folders) {
    if (compare.contains(folder.path, path) && (!best || compare.contains(best.path, folder.path)))
      best = folder
  }
  return best
}

function assemble(
  input: Pick<RootsInput, 'additionalDirectories' | 'compare'>,
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
    if (input.compare.same(folder.path, cwd.path)) continue
    if (input.additionalDirectories) plan.additional.push({ path: folder.path, label: folder.name })
    else if (!input.compare.contains(cwd.path, folder.path)) {
      plan.unseen.push({
        label: folder.name,
        reason: l10n.t("The agent can't work in more than one folder."),
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

/**
 * Creates the private folder of sessions that have no workspace folder: `scratch` in the extension's global storage, only accessible to the
 * user (0700; on Windows, the profile's permissions apply). Resolves to its path. Rejects if something else, such as a link, has this path.
 */
export async function ensureScratchFolder(globalStorage: string): Promise<string> {
  const folder = path.join(globalStorage, 'scratch')
  await mkdir(globalStorage, { recursive: true })
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const info = await lstat(folder)
  if (!info.isDirectory()) {
    throw new Error(l10n.t("The scratch folder {0} isn't a folder.", folder))
  }
  if (hasFileModes() && (info.mode & 0o077) !== 0) await chmod(folder, 0o700)
  return folder
}
