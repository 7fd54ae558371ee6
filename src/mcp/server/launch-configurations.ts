import { isRecord } from '../../common/is-record.ts'
import type { LaunchConfiguration, LaunchEntry } from './debug-features.ts'
import {
  DescriptionWork,
  seenVariables,
  TOO_DEEP,
  titledVariables,
  type VariableSources,
} from './seen-variables.ts'

/** The launch settings of a folder, or of the workspace file. */
export interface LaunchSettings {
  /** its path; absent for the workspace file */
  folder?: string
  folderName?: string
  configurations: unknown
  compounds: unknown
  /** For configurations of a type, whose debugger may have names of its own for commands. */
  variables: (type: unknown) => VariableSources
}

interface Entry {
  name: string
  from: LaunchSettings
  value: Record<string, unknown>
}

/** `describe`: see `DebugFeatures`. */
export interface DescribedLaunch extends LaunchEntry {
  describe: () => LaunchConfiguration
}

/** Everything that launch settings define. */
export function launchConfigurations(settings: readonly LaunchSettings[]): DescribedLaunch[] {
  const all = settings.flatMap(from => listEntries(from, from.configurations))
  // VS Code starts a compound only by its name, and doesn't look up names in the workspace file
  const compounds = settings
    .filter(({ folder }) => folder !== undefined)
    .flatMap(from => listEntries(from, from.compounds))
  const byName = new Map<unknown, Entry[]>()
  for (const entry of all) {
    const named = byName.get(entry.name)
    if (named) named.push(entry)
    else byName.set(entry.name, [entry])
  }
  return [
    ...all.map(entry => ({
      ...toNameAndFolder(entry),
      describe: () => ({
        ...describe(entry, [], []),
        ...(entry.from.folder === undefined && { own: entry.value }),
      }),
    })),
    ...compounds.map(entry => ({
      ...toNameAndFolder(entry),
      describe: () => {
        const members = Array.isArray(entry.value.configurations) ? entry.value.configurations : []
        const found = members.map(member => findMember(member, entry.from, byName) ?? JSON.stringify(member))
        return describe(
          entry,
          found.filter(one => typeof one !== 'string'),
          found.filter(one => typeof one === 'string'),
        )
      },
    })),
  ]
}

function toNameAndFolder({ name, from: { folder } }: Entry): { name: string; folder?: string } {
  return { name, ...(folder !== undefined && { folder }) }
}

/** Describes everything that an entry starts, as far as known. */
function describe(entry: Entry, members: readonly Entry[], missing: readonly string[]): LaunchConfiguration {
  // a compound may name the same one again and again
  const parts = [...new Set([entry, ...members])]
  const work = new DescriptionWork()
  const seen = parts.map(part => seenVariables(part.value, part.from.variables(part.value.type), work))
  const isTooDeep = seen.some(one => one.isTooDeep)
  const unresolved = [...missing, ...seen.flatMap(one => one.missing), ...(isTooDeep ? [TOO_DEEP] : [])]
  const shown = isTooDeep
    ? []
    : [...parts.map(({ value }) => value), ...new Set(seen.flatMap(({ inputs }) => inputs))]
  return {
    ...toNameAndFolder(entry),
    content: [
      ...shown.map(value => JSON.stringify(value, null, 2)),
      ...titledVariables([...new Set(seen.flatMap(({ lines }) => lines))]),
    ].join('\n'),
    tasks: parts.flatMap(listTasks),
    ...(members.length > 0 && { members: members.map(member => member.name) }),
    ...(unresolved.length > 0 && { unresolved }),
  }
}

/** Finds the member of a compound like VS Code; `undefined` if several could be meant. */
function findMember(
  member: unknown,
  own: LaunchSettings,
  byName: ReadonlyMap<unknown, Entry[]>,
): Entry | undefined {
  const { name, folder } = isRecord(member) ? member : { name: member }
  const named = byName.get(name) ?? []
  const here = named.filter(({ from }) => from === own)
  const found =
    folder !== undefined
      ? named.filter(({ from }) => from.folderName === folder)
      : here.length > 0
        ? here
        : named
  return found.length === 1 ? found[0] : undefined
}

/** The tasks that run before and after the configuration, including those of specific operating systems. */
function listTasks({ value, from: { folder } }: Entry): LaunchConfiguration['tasks'] {
  return [value, value.windows, value.osx, value.linux]
    .filter(isRecord)
    .flatMap(({ preLaunchTask, postDebugTask }) => [preLaunchTask, postDebugTask])
    .filter(task => isRecord(task) || (typeof task === 'string' && task !== ''))
    .map(task => ({
      name: typeof task === 'string' ? task : JSON.stringify(task),
      ...(folder !== undefined && { folder }),
    }))
}

function listEntries(from: LaunchSettings, list: unknown): Entry[] {
  return (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .flatMap(value => (typeof value.name === 'string' ? [{ name: value.name, from, value }] : []))
}
