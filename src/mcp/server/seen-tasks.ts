import { isDeepStrictEqual } from 'node:util'
import * as l10n from '@vscode/l10n'
import { isRecord } from '../../common/is-record.ts'
import type { TaskInfo } from './editor-features.ts'
import { TOO_DEEP, titledVariables } from './seen-variables.ts'

/** Maximum number of objects that refer to tasks, since each is compared with all tasks. Further ones match none. */
const MAX_OBJECTS = 20

/** Finds the tasks that references of tasks.json or launch.json may stand for. */
export class TaskReferences {
  readonly #tasks: readonly TaskInfo[]
  readonly #byName = new Map<string, TaskInfo[]>()
  readonly #byObject = new Map<string, TaskInfo[]>()
  #definitions: unknown[] | undefined

  constructor(tasks: readonly TaskInfo[]) {
    this.#tasks = tasks
    for (const task of tasks) {
      const { name, source, group, isDefault } = task
      const names = new Set([name, `${source}: ${name}`])
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of launch.json
      if (group === 'build' && isDefault) names.add('${defaultBuildTask}')
      for (const one of names) {
        const known = this.#byName.get(one)
        if (known) known.push(task)
        else this.#byName.set(one, [task])
      }
    }
  }

  /** `reference`: a name, or JSON of an object that identifies a task. */
  find(reference: string, folder: string | undefined): TaskInfo[] {
    const named = new Set([...(this.#byName.get(reference) ?? []), ...this.#identifiedBy(reference)])
    return [...named].filter(one => folder === undefined || one.folder === undefined || one.folder === folder)
  }

  /** The tasks that run before some tasks, directly or not. */
  before(own: readonly TaskInfo[]): TaskInfo[] {
    const found = new Set(own)
    for (const { tasks } of this.#dependenciesOf(found)) for (const one of tasks) found.add(one)
    for (const one of own) found.delete(one)
    return [...found]
  }

  /** The missing tasks that these tasks depend on. */
  missing(tasks: readonly TaskInfo[]): string[] {
    const all = [...this.#dependenciesOf(tasks)].filter(one => one.tasks.length === 0)
    return [...new Set(all.map(({ reference }) => reference))]
  }

  /** Each reference of each folder once: thousands of tasks may have the same references. */
  *#dependenciesOf(all: Iterable<TaskInfo>): Iterable<{ reference: string; tasks: TaskInfo[] }> {
    const followed = new Map<string | undefined, Set<string>>()
    for (const { dependsOn = [], folder } of all) {
      const own = followed.get(folder) ?? new Set()
      followed.set(folder, own)
      for (const reference of dependsOn) {
        if (own.has(reference)) continue
        own.add(reference)
        yield { reference, tasks: this.find(reference, folder) }
      }
    }
  }

  #identifiedBy(reference: string): TaskInfo[] {
    if (!reference.startsWith('{')) return []
    const known = this.#byObject.get(reference)
    if (known) return known
    if (this.#byObject.size >= MAX_OBJECTS) return []
    const wanted = Object.entries(JSON.parse(reference) as Record<string, unknown>)
    this.#definitions ??= this.#tasks.map(({ content }) =>
      content === undefined ? undefined : (JSON.parse(content) as unknown[])[0],
    )
    const definitions = this.#definitions
    const found = this.#tasks.filter((_, i) => {
      const definition = definitions[i]
      return isRecord(definition) && wanted.every(([key, value]) => isDeepStrictEqual(definition[key], value))
    })
    this.#byObject.set(reference, found)
    return found
  }
}

/** The tasks whose variables are nested too deeply to determine what they run, with the reason for the agent. */
export function unclearTasks(tasks: readonly TaskInfo[]): string[] {
  return tasks.filter(({ isTooDeep }) => isTooDeep).map(({ name }) => `${name}: ${TOO_DEEP}`)
}

/** What a task runs, as text for the user. */
export function taskText(
  task: TaskInfo,
  before: readonly TaskInfo[],
  references: Pick<TaskReferences, 'missing'>,
): string {
  const lines = [commandText(task), ...(task.folder === undefined ? [] : [task.folder])]
  const all = [...before.map(namedText), ...references.missing([task, ...before])]
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
