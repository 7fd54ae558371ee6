import * as l10n from '@vscode/l10n'
import type { z } from 'zod'
import { type SettingLayer, type SettingScope, valueAt } from './setting-layers.ts'

/** A problem in the settings, with its location. */
export interface SettingProblem {
  /** The setting's full id, such as `parley.agents`. */
  setting: string
  /** The path of the problem within the setting's value; empty for the value itself. */
  path: ReadonlyArray<string | number>
  /** The path as users see it: `parley.agents › claude › args[2]`. */
  where: string
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  /** The file that contains the problem, if it isn't in the settings. */
  file?: string
  /** The problem: the expected and the found value, without a period at the end. Never contains a value that may be a secret. */
  message: string
  /** Whether the whole entry is ignored. Otherwise, the entry is used nevertheless. */
  fatal: boolean
}

/** Returns a problem in the scope of `layer`. */
export function settingProblem(
  setting: string,
  path: ReadonlyArray<string | number>,
  layer: Pick<SettingLayer, 'scope' | 'folder'> | undefined,
  message: string,
  fatal = true,
): SettingProblem {
  return {
    setting,
    path,
    where: settingPath(setting, path),
    scope: layer?.scope ?? 'user',
    ...(layer?.folder === undefined ? {} : { folder: layer.folder }),
    message,
    fatal,
  }
}

/**
 * The maximum number of members in all objects and lists of a setting. Reading more would block the editor, and workspace settings can have
 * any number.
 */
const MAX_MEMBERS = 10_000

/** Returns the layers whose value isn't too large. Reports a problem for each other layer. */
export function withoutHuge(
  setting: string,
  layers: readonly SettingLayer[],
  problems: SettingProblem[],
): SettingLayer[] {
  return layers.filter(layer => {
    if (!isHuge(layer.value)) return true
    const message = l10n.t('expected at most {0} values in all, found more', MAX_MEMBERS)
    problems.push(settingProblem(setting, [], layer, message))
    return false
  })
}

function isHuge(value: unknown): boolean {
  const open = [value]
  let count = 0
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const members = Object.values(next)
    count += members.length
    if (count > MAX_MEMBERS) return true
    for (const member of members) open.push(member)
  }
  return false
}

/** Returns the path of a value for users, such as `parley.agents › claude › args[2]`. */
export function settingPath(setting: string, path: ReadonlyArray<string | number>): string {
  let text = setting
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : ` › ${key}`
  return text
}

/** Returns a sentence with the place, the scope and the problem. */
export function describeProblem(problem: SettingProblem): string {
  if (problem.file !== undefined) return l10n.t('{0}: {1}.', problem.where, problem.message)
  return l10n.t('{0} ({1}): {2}.', problem.where, describeScope(problem), problem.message)
}

/** Returns the scope in words: `user settings`, `workspace settings`, `settings of the folder "api"`. */
export function describeScope(setting: { scope: SettingScope; folder?: string }): string {
  switch (setting.scope) {
    case 'default':
      return l10n.t('default settings')
    case 'user':
      return l10n.t('user settings')
    case 'workspace':
      return l10n.t('workspace settings')
    case 'folder':
      return l10n.t('settings of the folder "{0}"', setting.folder ?? '')
  }
}

/** Returns the kind of a value in JSON's terms. Never contains the text of a string, which may be a secret. */
export function jsonKind(value: unknown): string {
  if (value === undefined) return l10n.t('nothing')
  if (value === null) return 'null'
  if (Array.isArray(value)) return l10n.t('an array')
  if (typeof value === 'string') return value.trim() === '' ? l10n.t('an empty string') : l10n.t('a string')
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return l10n.t('a number')
  return l10n.t('an object')
}

function expectedKind(expected: string): string {
  switch (expected) {
    case 'string':
      return l10n.t('a string')
    case 'boolean':
      return l10n.t('true or false')
    case 'array':
      return l10n.t('an array')
    case 'record':
    case 'object':
      return l10n.t('an object')
    default:
      return expected
  }
}

/** Returns a zod issue about `root` as `expected …, found …`. */
export function describeIssue(issue: z.core.$ZodIssue, root: unknown): string {
  const found = jsonKind(valueAt(root, issue.path))
  switch (issue.code) {
    case 'invalid_type':
      return l10n.t('expected {0}, found {1}', expectedKind(issue.expected), found)
    case 'invalid_value':
      return l10n.t(
        'expected one of {0}, found {1}',
        issue.values.map(value => JSON.stringify(value)).join(', '),
        found,
      )
    default:
      return issue.message
  }
}

/** Returns the path of a zod issue as a problem's path. */
export function issuePath(issue: z.core.$ZodIssue): Array<string | number> {
  return issue.path.map(key => (typeof key === 'number' ? key : String(key)))
}
