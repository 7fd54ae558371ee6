import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import { isRecord } from '../../common/is-record.ts'
import type { TaskInfo } from './editor-features.ts'
import { TOO_DEEP, titledVariables } from './seen-variables.ts'

/** The tasks that a reference of tasks.json or launch.json may stand for: a name, or JSON of an object that identifies it. */
export function tasksNamed(
  reference: string,
  folder: string | undefined,
  tasks: readonly TaskInfo[],
): TaskInfo[] {
  return tasks.filter(
    one =>
      isNamed(one, reference) && (folder === undefined || one.folder === undefined || one.folder === folder),
  )
}

function isNamed({ name, source, group, isDefault, content }: TaskInfo, reference: string): boolean {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of launch.json
  if (reference === '${defaultBuildTask}') return group === 'build' && isDefault === true
  if (name === reference || `${source}: ${name}` === reference) return true
  if (!reference.startsWith('{') || content === undefined) return false
  const [definition] = JSON.parse(content) as unknown[]
  const wanted = JSON.parse(reference) as Record<string, unknown>
  return (
    isRecord(definition) &&
    Object.entries(wanted).every(([key, value]) => isDeepStrictEqual(definition[key], value))
  )
}

/** The tasks that run before some tasks, directly or not. */
export function tasksBefore(own: readonly TaskInfo[], tasks: readonly TaskInfo[]): TaskInfo[] {
  const found = new Set(own)
  for (const { dependsOn = [], folder } of found)
    for (const reference of dependsOn) for (const one of tasksNamed(reference, folder, tasks)) found.add(one)
  for (const one of own) found.delete(one)
  return [...found]
}

/** What runs before these tasks but isn't there. */
export function missingTasks(tasks: readonly TaskInfo[]): string[] {
  const names = tasks.flatMap(({ dependsOn = [], folder }) =>
    dependsOn.filter(reference => tasksNamed(reference, folder, tasks).length === 0),
  )
  return [...new Set(names)]
}

/** Of these tasks, those of which nobody can say what they run, for the agent. */
export function unclearTasks(tasks: readonly TaskInfo[]): string[] {
  return tasks.filter(({ isTooDeep }) => isTooDeep).map(({ name }) => `${name}: ${TOO_DEEP}`)
}

/** What a task runs, for the user. */
export function taskText(task: TaskInfo, before: readonly TaskInfo[]): string {
  const lines = [commandText(task), ...(task.folder === undefined ? [] : [task.folder])]
  const all = [...before.map(namedText), ...missingTasks([task, ...before])]
  if (all.length > 0) lines.push(l10n.t('These tasks run before it:'), ...all)
  return lines.filter(line => line !== '').join('\n')
}

export function namedText(task: TaskInfo): string {
  return `${task.name}: ${commandText(task)}`
}

/** Of an npm script, the command only says `npm run`; the detail is the script. */
function commandText({ command, detail, options, variables = [] }: TaskInfo): string {
  const lines = [...new Set([command, detail, options])].filter(Boolean)
  return [...lines, ...titledVariables(variables)].join('\n')
}
