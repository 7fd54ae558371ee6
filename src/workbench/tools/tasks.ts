import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { isRecord } from '../../common/is-record.ts'
import type { TaskInfo, TaskRun } from '../../mcp/server/editor-features.ts'
import { DescriptionWork, seenVariables, type VariableSources } from '../../mcp/server/seen-variables.ts'
import { pathOnDisk } from '../path-on-disk.ts'
import { runToEnd } from '../run-task.ts'
import { followTask } from './terminal-commands.ts'
import { variableSources } from './variables.ts'

/** Resolves to the tasks that the workspace defines and that extensions find. */
export async function listTasks(): Promise<TaskInfo[]> {
  const settings = new TaskSettings()
  return (await vscode.tasks.fetchTasks()).map(task => infoOf(task, settings))
}

/** Runs a task and waits for its end, up to `waitMs`; ends the task when `signal` aborts. */
export async function runTask(info: TaskInfo, waitMs: number, signal: AbortSignal): Promise<TaskRun> {
  const { name, source } = info
  // VS Code runs the current definition even if the task object is older, so the definitions are compared first
  const settings = new TaskSettings()
  const task = (await vscode.tasks.fetchTasks()).find(
    one => one.name === name && isDeepStrictEqual(infoOf(one, settings), info),
  )
  if (!task) throw new Error(l10n.t('The task {0} no longer exists.', name))
  if (signal.aborted) return {}
  const written = followTask(task)
  const run = await runToEnd(task, {
    isSame: other => other.name === name && other.source === source && folderOf(other) === info.folder,
    ...{ waitMs, signal },
  })
  const output = await written(run.ended === true || run.exitCode !== undefined)
  return output === undefined ? run : { ...run, output }
}

function infoOf(task: vscode.Task, settings: TaskSettings): TaskInfo {
  const { name, source, group, detail, definition, execution } = task
  const command = execution && commandOf(execution)
  const options = execution && optionsOf(execution)
  const folder = folderOf(task)
  const own = settings.of(typeof task.scope === 'object' ? task.scope.uri : undefined)
  const { work } = settings
  const content = [definition, execution && partsOf(execution)]
  let dependsOn: string[] | undefined
  let seen: ReturnType<typeof seenVariables> | undefined
  // computed on demand, since it's slow and needed for few of thousands of tasks
  const see = () => {
    seen ??= seenVariables(content, own.sources, work)
    return seen
  }
  return {
    name,
    source,
    ...(folder !== undefined && { folder }),
    ...(group && { group: group.id }),
    ...(group?.isDefault && { isDefault: true as const }),
    ...(detail && { detail }),
    ...(command && { command }),
    ...(options && { options }),
    content: JSON.stringify(content),
    get dependsOn() {
      dependsOn ??= dependenciesOf(task, own, work)
      return dependsOn
    },
    get variables() {
      const { missing, inputs, lines } = see()
      const asked = inputs.map(
        input => `\${input:${isRecord(input) ? input.id : ''}}: ${JSON.stringify(input)}`,
      )
      const all = [...missing, ...asked, ...lines]
      return all.length > 0 ? all : undefined
    },
    get isTooDeep() {
      return see().isTooDeep || work.isSpent || own.unnamed.length > MAX_UNNAMED
    },
  }
}

/** Returns a task's folder if the window has several folders, which may have tasks with the same name. */
function folderOf({ scope }: vscode.Task): string | undefined {
  const isOneOfSeveral = typeof scope === 'object' && (vscode.workspace.workspaceFolders?.length ?? 0) > 1
  return isOneOfSeveral ? pathOnDisk(scope.uri) : undefined
}

/** Maximum number of tasks.json entries without a label that are compared with each task. With more, it isn't clear what a task runs. */
const MAX_UNNAMED = 200

/** The content of a folder's tasks.json. */
interface FolderTasks {
  sources: VariableSources
  /** entries by their labels */
  named: ReadonlyMap<unknown, readonly Record<string, unknown>[]>
  unnamed: readonly Record<string, unknown>[]
}

/** The settings of tasks.json, read once for all tasks of a folder. */
class TaskSettings {
  /** the work of describing all tasks with these settings, which is limited */
  readonly work = new DescriptionWork()
  readonly #byFolder = new Map<string | undefined, FolderTasks>()

  of(folder: vscode.Uri | undefined): FolderTasks {
    const key = folder?.toString()
    const known = this.#byFolder.get(key)
    if (known) return known
    const set = vscode.workspace.getConfiguration('tasks', folder).inspect<unknown>('tasks')
    const named = new Map<unknown, Record<string, unknown>[]>()
    const unnamed: Record<string, unknown>[] = []
    for (const value of [set?.globalValue, set?.workspaceValue, set?.workspaceFolderValue])
      for (const entry of (Array.isArray(value) ? value : []).filter(isRecord)) {
        const label = entry.label ?? entry.taskName
        const own = label === undefined ? unnamed : named.get(label)
        if (own) own.push(entry)
        else named.set(label, [entry])
      }
    const found = { sources: variableSources('tasks', folder), named, unnamed }
    this.#byFolder.set(key, found)
    return found
  }
}

/** Returns the names of the tasks that run before a task, from tasks.json, since task objects don't have them. */
function dependenciesOf(
  { name, definition }: vscode.Task,
  { named, unnamed }: FolderTasks,
  work: DescriptionWork,
): string[] {
  const properties = Object.entries(definition)
  const size = JSON.stringify(definition).length
  // entries without a label that add properties to this extension's task
  const added = unnamed.slice(0, MAX_UNNAMED).filter(entry =>
    properties.every(([key, value]) => {
      const isObject = typeof value === 'object'
      return (
        work.spend(isObject ? size : 1) &&
        (isObject ? isDeepStrictEqual(entry[key], value) : entry[key] === value)
      )
    }),
  )
  const found = [...(named.get(name) ?? []), ...added]
    .flatMap(({ dependsOn }) => dependsOn ?? [])
    .map(one => (typeof one === 'string' ? one : JSON.stringify(one)))
  return [...new Set(found)]
}

function partsOf(execution: NonNullable<vscode.Task['execution']>): unknown {
  if (execution instanceof vscode.ProcessExecution)
    return [execution.process, execution.args, execution.options]
  if (!(execution instanceof vscode.ShellExecution)) return undefined
  return [execution.commandLine, execution.command, execution.args, execution.options]
}

function optionsOf(execution: NonNullable<vscode.Task['execution']>): string | undefined {
  if (execution instanceof vscode.CustomExecution || !execution.options) return undefined
  const text = JSON.stringify(execution.options)
  return text === '{}' ? undefined : text
}

function commandOf(execution: NonNullable<vscode.Task['execution']>): string | undefined {
  if (execution instanceof vscode.ProcessExecution) return [execution.process, ...execution.args].join(' ')
  if (!(execution instanceof vscode.ShellExecution)) return undefined
  if (execution.commandLine !== undefined) return execution.commandLine
  const words = [execution.command, ...(execution.args ?? [])]
  return words.flatMap(word => (typeof word === 'string' ? [word] : word ? [word.value] : [])).join(' ')
}
