import * as l10n from '@vscode/l10n'
import { isRecord } from '../../common/is-record.ts'

/** The known values of variables in a task or a launch configuration. */
export interface VariableSources {
  /** `inputs` of the settings that apply there. */
  inputs: unknown
  /** The value of a setting that applies there. */
  setting: (id: string) => unknown
  /** The value of an environment variable. */
  environment?: (name: string) => string | undefined
  /** The editor's command for a name that a debugger gives it. */
  command?: (name: string) => string | undefined
}

/** The variables in a value, including those in the values that replace them. */
interface SeenVariables {
  /** The inputs that the value asks for, which may run commands of the editor. */
  inputs: unknown[]
  /** Names of inputs that aren't defined. */
  missing: string[]
  /** The variables are nested too deeply to say what runs. */
  isTooDeep: boolean
  /** The values of the other variables, as far as known, one line each. */
  lines: string[]
}

/** Maximum depth of nested replacements in one text. */
const MAX_DEPTH = 8
/** Characters of a text with its variables replaced. */
const MAX_LENGTH = 200_000
/** The total work of descriptions that share a budget: one unit per character read, plus these units for each text and variable. */
const MAX_WORK = 1_000_000
const TEXT_WORK = 50
const VARIABLE_WORK = 200
/** Variables that need no description. */
const PLAIN =
  /^(?:workspaceFolder|workspaceRoot|workspaceFolderBasename|userHome|pathSeparator|execPath|cwd|\/)(?::|$)/

/** Bounds the time that descriptions take together: a setting or a file may contain anything. */
export class DescriptionWork {
  #remaining = MAX_WORK

  /** From then on, nothing can be described. */
  get isSpent(): boolean {
    return this.#remaining < 0
  }

  /** Returns whether it may be done. */
  spend(amount: number): boolean {
    this.#remaining -= amount
    return !this.isSpent
  }
}

/** Finds the variables that VS Code replaces in a value. VS Code searches a text again for variables after replacing some. */
export function seenVariables(
  value: unknown,
  sources: VariableSources,
  work: DescriptionWork,
): SeenVariables {
  const byId = inputsById(sources.inputs)
  const inputs = new Set<unknown>()
  const missing = new Set<string>()
  /** by name */
  const values = new Map<string, string | undefined>()
  const texts = new Map<string, number>()
  const add = (text: string, depth: number) => {
    if (!texts.has(text)) texts.set(text, depth)
  }
  for (const text of textsIn(value, work)) add(text, 0)
  for (const [text, depth] of texts) {
    if (depth > MAX_DEPTH || text.length > MAX_LENGTH || !work.spend(text.length + TEXT_WORK)) return UNCLEAR
    let replaced = ''
    let end = 0
    for (const { name, from, to } of variablesIn(text)) {
      if (!work.spend(VARIABLE_WORK)) return UNCLEAR
      const [kind, id] = splitName(name)
      if (!values.has(name)) {
        const own = kind === 'input' ? (byId.get(id) ?? []) : []
        if (kind === 'input' && own.length === 0) missing.add(`\${${name}}`)
        for (const one of own) {
          inputs.add(one)
          for (const part of textsIn(one, work)) add(part, depth + 1)
        }
        const known = knownValue(kind, id, sources, work)
        values.set(name, known)
        work.spend(known?.length ?? 0)
      }
      const known = values.get(name)
      if (known === undefined) continue
      add(known, depth + 1)
      // don't build a text beyond the limit that is checked above
      if (replaced.length <= MAX_LENGTH) replaced += text.slice(end, from) + known
      end = to
    }
    if (end > 0) add(replaced + text.slice(end), depth + 1)
  }
  if (work.isSpent) return UNCLEAR
  const lines = [...values.keys()].flatMap(name => describeVariable(name, sources))
  return { inputs: [...inputs], missing: [...missing], isTooDeep: false, lines }
}

const UNCLEAR: SeenVariables = { inputs: [], missing: [], isTooDeep: true, lines: [] }

/** indexes by the settings that contain the inputs */
const indexed = new WeakMap<unknown[], Map<unknown, Record<string, unknown>[]>>()

function inputsById(inputs: unknown): Map<unknown, Record<string, unknown>[]> {
  if (!Array.isArray(inputs)) return new Map()
  const known = indexed.get(inputs)
  if (known) return known
  const byId = new Map<unknown, Record<string, unknown>[]>()
  for (const one of inputs.filter(isRecord)) {
    const named = byId.get(one.id)
    if (named) named.push(one)
    else byId.set(one.id, [one])
  }
  indexed.set(inputs, byId)
  return byId
}

/** For the agent, if `isTooDeep`. */
export const TOO_DEEP = 'Variables whose values contain variables, nested too deeply'

/** The variables under a title, for the user. */
export function titledVariables(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [l10n.t('VS Code replaces these variables at the start:'), ...lines]
}

function describeVariable(name: string, { setting, command }: VariableSources): string[] {
  const [kind, id] = splitName(name)
  if (PLAIN.test(name) || kind === 'input') return []
  const shown = `\${${name}}`
  if (kind === 'config') {
    const set = setting(id)
    return [set === undefined ? l10n.t('{0}: not set', shown) : `${shown}: ${JSON.stringify(set)}`]
  }
  if (kind === 'command') return [l10n.t('{0}: the result of the command {1}', shown, command?.(id) ?? id)]
  return [shown]
}

function knownValue(
  kind: string,
  id: string,
  { setting, environment }: VariableSources,
  work: DescriptionWork,
): string | undefined {
  // VS Code replaces unset environment variables with empty text
  if (kind === 'env') return environment && (environment(id) ?? '')
  const value = kind === 'config' && id !== '' ? setting(id) : undefined
  if (value === undefined) return undefined
  return typeof value === 'object' ? textsIn(value, work).join() : String(value)
}

function splitName(name: string): [kind: string, id: string] {
  const at = name.indexOf(':')
  return at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)]
}

/** Finds variables like VS Code: braces in a name are balanced, and variables in a name aren't replaced. */
function* variablesIn(text: string): Iterable<{ name: string; from: number; to: number }> {
  let from = text.indexOf('${')
  if (from < 0) return
  const ends = new Int32Array(text.length)
  const open: number[] = []
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === OPEN_BRACE) open.push(i)
    else if (code === CLOSING_BRACE && open.length > 0) ends[open.pop()!] = i + 1
  }
  while (from >= 0) {
    const to = ends[from + 1]
    if (to) yield { name: text.slice(from + 2, to - 1), from, to }
    from = text.indexOf('${', to || from + 2)
  }
}

const OPEN_BRACE = 123
const CLOSING_BRACE = 125

/** All texts in a value, including property names, within the budget. */
function textsIn(value: unknown, work: DescriptionWork): string[] {
  const texts: string[] = []
  const pending = [value]
  while (pending.length > 0 && !work.isSpent) {
    const one = pending.pop()
    if (typeof one === 'string') {
      texts.push(one)
      work.spend(one.length)
    } else if (Array.isArray(one)) {
      if (work.spend(one.length * TEXT_WORK)) pending.push(...one.toReversed())
    } else if (typeof one === 'object' && one !== null) {
      const parts: unknown[] = []
      for (const key in one) {
        if (!work.spend(TEXT_WORK)) break
        parts.push(key, (one as Record<string, unknown>)[key])
      }
      pending.push(...parts.toReversed())
    }
  }
  return texts
}
