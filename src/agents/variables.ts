import { basename } from 'node:path'
import * as l10n from '@vscode/l10n'
import { environmentLookUp } from '../common/processes/spawn-process.ts'

/** The values of the variables in a setting. */
export interface VariableContext {
  /** The workspace folders on this machine's disk, absolute. `${workspaceFolder}` is the first. */
  folders: ReadonlyArray<{ name: string; path: string }>
  userHome: string
  /** The variables for `${env:X}`. */
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
}

interface VariableProblem {
  /** The variable as it is written, `${…}` included. */
  variable: string
  /** The problem, without a period at the end. */
  message: string
  /** `false`: the variable is replaced anyway, with empty text. */
  fatal: boolean
}

export interface Substitution {
  text: string
  problems: VariableProblem[]
}

/** With a limit for the name, so that the search is also fast in a text with many opening and no closing braces. */
const variable = /\$\{([^}]{0,500})\}/g

/** The variables in a text, without `${` and `}`, in order. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(variable)].map(match => match[1] ?? '')
}

/**
 * Replaces the variables in a text, once and from left to right. Values aren't expanded recursively, so a folder named `${env:SECRET}`
 * stays as it is. An unknown variable stays and is a problem. As in VS Code, an unset environment variable is empty text, which is also
 * reported. Known: `${workspaceFolder}`, `${workspaceFolder:name}`, `${workspaceFolderBasename}`, `${userHome}`, `${env:NAME}`,
 * `${pathSeparator}` and its short form `${/}`.
 * @param more resolves further variables first (without `${` and `}`); returns `undefined` for others
 */
export function substitute(
  text: string,
  context: VariableContext,
  more: (name: string) => string | undefined = () => undefined,
): Substitution {
  const problems: VariableProblem[] = []
  const substituted = text.replace(variable, (whole, name: string) => {
    const value = more(name) ?? lookUp(name, context)
    if (typeof value === 'string') return value
    problems.push({ variable: whole, ...value })
    return value.fatal ? whole : ''
  })
  return { text: substituted, problems }
}

function lookUp(name: string, context: VariableContext): string | { message: string; fatal: boolean } {
  const colon = name.indexOf(':')
  const kind = colon < 0 ? name : name.slice(0, colon)
  const argument = colon < 0 ? undefined : name.slice(colon + 1)
  const first = context.folders[0]
  switch (kind) {
    case 'workspaceFolder':
      if (argument === undefined) return first?.path ?? noFolder()
      return folderNamed(argument, context)
    case 'workspaceFolderBasename':
      if (argument === undefined) return first ? basename(first.path) : noFolder()
      break
    case 'userHome':
      if (argument === undefined) return context.userHome
      break
    case 'pathSeparator':
    case '/':
      if (argument === undefined) return context.platform === 'win32' ? '\\' : '/'
      break
    case 'env':
      if (argument) return environmentValue(argument, context)
      return { message: l10n.t('the name of an environment variable is missing after env:'), fatal: true }
    case 'input':
      return {
        message: l10n.t(
          "inputs are supported only in parley.mcpServers and in an agent's headers; use env: to pass an environment variable",
        ),
        fatal: true,
      }
  }
  return { message: unknownVariable(name, context), fatal: true }
}

const noFolder = () => ({ message: l10n.t('no local folder is open'), fatal: true })

function folderNamed(name: string, context: VariableContext): string | { message: string; fatal: boolean } {
  const folder = context.folders.find(candidate => candidate.name === name)
  if (folder) return folder.path
  const names = context.folders.map(candidate => `"${candidate.name}"`).join(', ')
  if (names === '') return noFolder()
  return { message: l10n.t('unknown workspace folder (available: {0})', names), fatal: true }
}

function environmentValue(
  name: string,
  context: VariableContext,
): string | { message: string; fatal: boolean } {
  const value = environmentLookUp(context.env, name, context.platform)
  return (
    value ?? {
      message: l10n.t("the environment variable {0} isn't set and is replaced with an empty string", name),
      fatal: false,
    }
  )
}

function unknownVariable(name: string, context: VariableContext): string {
  // `${NAME}` is how a shell and some other clients write an environment variable.
  const asInShell = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && isEnvironmentLike(name, context)
  return asInShell
    ? l10n.t('unknown variable; did you mean {0}?', `\${env:${name}}`)
    : l10n.t('unknown variable')
}

function isEnvironmentLike(name: string, context: VariableContext): boolean {
  return name === name.toUpperCase() || environmentLookUp(context.env, name, context.platform) !== undefined
}
