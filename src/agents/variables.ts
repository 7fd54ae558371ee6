import { basename } from 'node:path'
import * as l10n from '@vscode/l10n'
import { environmentLookUp } from '../common/processes/spawn-process.ts'

/** The values for the variables in a setting. */
export interface VariableContext {
  /** The absolute paths of the workspace folders on this machine's disk; `${workspaceFolder}` is the first one. */
  folders: ReadonlyArray<{ name: string; path: string }>
  userHome: string
  /** The environment variables for `${env:NAME}`. */
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
}

interface VariableProblem {
  /** The variable as it's written, including `${` and `}`. */
  variable: string
  /** The problem, without a period at the end. */
  message: string
  /** Whether the text can't be used. Otherwise, the variable is replaced with empty text. */
  fatal: boolean
}

export interface Substitution {
  text: string
  problems: VariableProblem[]
}

/**
 * Matches a variable. The length of the name is limited, so that the search is fast even in a text with many opening and no closing braces.
 */
const variable = /\$\{([^}]{0,500})\}/g

/** Returns the variables in a text, without `${` and `}`, in order. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(variable)].map(match => match[1] ?? '')
}

/**
 * Replaces the variables in a text, once and from left to right. Values aren't expanded recursively, so a folder named `${env:SECRET}`
 * isn't changed. An unknown variable isn't replaced and is a problem. As in VS Code, an unset environment variable is replaced with empty
 * text, which is also reported as a problem. Known variables: `${workspaceFolder}`, `${workspaceFolder:name}`,
 * `${workspaceFolderBasename}`, `${userHome}`, `${env:NAME}`, `${pathSeparator}` and its short form `${/}`.
 * @param more called first with each variable, without `${` and `}`; returns its value, or `undefined` for other variables
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
  // In shells and some other clients, an environment variable is written as `${NAME}`.
  const asInShell = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && isEnvironmentLike(name, context)
  return asInShell
    ? l10n.t('unknown variable; did you mean {0}?', `\${env:${name}}`)
    : l10n.t('unknown variable')
}

function isEnvironmentLike(name: string, context: VariableContext): boolean {
  return name === name.toUpperCase() || environmentLookUp(context.env, name, context.platform) !== undefined
}
